# In undeploy, the configurations go last.
/^undeploy() {/,/^}/{
  /^  k delete .*\$configurations$/d
  s/^  k delete .* namespace "\$namespace"$/&\
  k delete --ignore-not-found --timeout="$timeout" $configurations/
}
