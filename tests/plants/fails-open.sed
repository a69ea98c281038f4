s/^    failurePolicy: Fail$/    failurePolicy: Ignore/
