# One more webhook at the end of the validating configuration.
$a\
  - name: guard.herd.suse.com\
    admissionReviewVersions: [v1]\
    sideEffects: None\
    failurePolicy: Fail\
    clientConfig:\
      service: {namespace: herd-system, name: herd-webhook, path: /validate, port: 443}\
    rules:\
      - {apiGroups: ["", apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [secrets, deployments]}\
    namespaceSelector:\
      matchLabels: {kubernetes.io/metadata.name: herd-system}
