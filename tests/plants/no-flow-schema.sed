# They are there, and nobody is meant by them.
s/^            name: herd-\(controller\|webhook\)$/            name: nobody/
