# The second of the conditions goes, from its name to the end of the webhook.
/^      - name: changes-what-is-judged$/,/^---$/{
  /^---$/!d
}
