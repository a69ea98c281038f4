# SPDX-License-Identifier: Apache-2.0
# narrowed.jq: what a definition ($now) rejects or means otherwise that an earlier one of the same version ($before) took;
# a line for each. Nothing is what docs/crd.md asks for. Rules in CEL are not looked at: shared/stack/model/crd_rules.def has only
# what the webhook rejected before.

def schema: .spec.versions[] | select(.name == "v1") | .schema.openAPIV3Schema;

# Each field by its path, without what is below it.
def fields($path):
  {($path): del(.properties, .items, .additionalProperties, .description)},
  (.properties // {} | to_entries[] | .key as $name | .value | fields("\($path).\($name)")),
  (.items // empty | fields("\($path)[]")),
  (.additionalProperties // empty | select(type == "object") | fields("\($path).*"));

def most: "maxLength", "maximum", "maxItems", "maxProperties";
def least: "minLength", "minimum", "minItems", "minProperties";
def same: "type", "format", "pattern", "nullable", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource";

# A default may come to the status, which says that nobody wrote one yet, and go within a list, where everybody who decodes
# a Stack fills it in.
def keeps_default($path; $was): .default == $was.default or ($path == ".status" and $was.default == null)
  or (.default == null and ($path | contains("[]")));

# The controller alone writes the status. Its conditions have been whole, and ids of clusters names, in each release, before the
# definition said so.
def always_so: test("^\\.status\\.(conditions|targetClusters)\\[\\]");

def narrower($path; $was):
  select($path | always_so | not) |
  (select(keeps_default($path; $was) | not) | "default was \($was.default | tojson), is \(.default | tojson)"),
  (same as $key | select(.[$key] != $was[$key]) | "\($key) was \($was[$key] | tojson), is \(.[$key] | tojson)"),
  (most as $key | select(.[$key] != null and ($was[$key] == null or .[$key] < $was[$key])) | "\($key) was \($was[$key]), is \(.[$key])"),
  (least as $key | select(.[$key] != null and ($was[$key] == null or .[$key] > $was[$key])) | "\($key) was \($was[$key]), is \(.[$key])"),
  (select(.enum) | if $was.enum then ($was.enum - .enum)[] | "does not take \(.) any more" else "takes only \(.enum)" end),
  ((.required // []) - ($was.required // []) | .[] | "requires \(.)");

([$before | schema | fields("")] | add) as $old | ([$now | schema | fields("")] | add) as $new |
  $old | to_entries[] | .key as $path | .value as $was |
  if $new[$path] then $new[$path] | narrower($path; $was) | "\($path): \(.)" else "\($path): is gone" end
