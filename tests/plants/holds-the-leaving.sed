/^      - name: not-being-deleted$/,/expression:/d
