# narrowed.jq: what a definition ($now) refuses or means otherwise that an earlier one of the same version ($before) took;
# a line for each. Nothing is what docs/crd.md asks for. Rules in CEL are not looked at: shared/stack/crd_rules.def has only
# what the webhook refused before.

def schema: .spec.versions[] | select(.name == "v1") | .schema.openAPIV3Schema;

# Each field by its path, without what is below it.
def fields($path):
  {($path): del(.properties, .items, .additionalProperties, .description)},
  (.properties // {} | to_entries[] | .key as $name | .value | fields("\($path).\($name)")),
  (.items // empty | fields("\($path)[]")),
  (.additionalProperties // empty | select(type == "object") | fields("\($path).*"));

def most: "maxLength", "maximum", "maxItems", "maxProperties";
def least: "minLength", "minimum", "minItems", "minProperties";
def same: "type", "format", "pattern", "default", "nullable", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource";

def narrower($was):
  (same as $key | select(.[$key] != $was[$key]) | "\($key) was \($was[$key] | tojson), is \(.[$key] | tojson)"),
  (most as $key | select(.[$key] != null and ($was[$key] == null or .[$key] < $was[$key])) | "\($key) was \($was[$key]), is \(.[$key])"),
  (least as $key | select(.[$key] != null and ($was[$key] == null or .[$key] > $was[$key])) | "\($key) was \($was[$key]), is \(.[$key])"),
  (select(.enum) | if $was.enum then ($was.enum - .enum)[] | "does not take \(.) any more" else "takes only \(.enum)" end),
  ((.required // []) - ($was.required // []) | .[] | "requires \(.)");

([$before | schema | fields("")] | add) as $old | ([$now | schema | fields("")] | add) as $new |
  $old | to_entries[] | .key as $path | .value as $was |
  if $new[$path] then $new[$path] | narrower($was) | "\($path): \(.)" else "\($path): is gone" end
