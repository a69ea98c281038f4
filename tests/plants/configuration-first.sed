# In deploy, all objects go in one go.
/^deploy() {/,/^}/{
  s/^  select_kinds 0 "\$webhook_kinds" <<<"\$objects" | k apply -f -$/  k apply -f - <<<"$objects"/
}
