# SPDX-License-Identifier: Apache-2.0
# schemas.jq: what the lab's OpenAPI ($lab) says of Kubernetes' types that the real one ($real) does not; a line for each.
# The lab may leave fields and types out, which it then stores without looking inside. Rancher's types are the lab's own.

def leaf: split("/")[-1];

# A type in one word; null is what the lab does not look into. Texts and numbers with a type of their own in Go are what
# JSON has for them.
def shape:
  if .["$ref"] then (.["$ref"] | leaf | if test("Time$") then "string" elif test("Quantity$|IntOrString$|FieldsV1$|JSON$|JSONSchemaPropsOr") then null else . end)
  elif .items then (.items | shape) as $of | $of and "[]\($of)"
  elif .additionalProperties | type == "object" then (.additionalProperties | shape) as $of | $of and "{}\($of)"
  else .type end;

def differs($a; $b): ($a // false) and ($b // false) and $a != $b;

$lab[0].definitions | to_entries[] | select(.key | test("^io.k8s.|^com.suse.")) | .key as $name | .value as $ours | $real[0].definitions[$name] as $theirs |
  if $theirs == null then "\($name): there is no such type"
  else
    (select(($ours.required // [] | sort) != ($theirs.required // [] | sort)) |
      "\($name): requires \($ours.required // [] | sort), not \($theirs.required // [] | sort)"),
    ($ours.properties // {} | to_entries[] | .key as $field | .value as $is | $theirs.properties[$field] as $should |
      if $should == null then "\($name).\($field): there is no such field"
      elif differs($is | shape; $should | shape) then "\($name).\($field): is \($is | shape), not \($should | shape)"
      else empty end)
  end
