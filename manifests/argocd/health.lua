-- SPDX-License-Identifier: Apache-2.0
-- Health of a Stack for Argo CD: resource.customizations.health.herd.suse.com_Stack in the ConfigMap argocd-cm.
--
-- Argo CD gives the object as `obj` and takes a table with `status` and `message`. Its sandbox has neither the string
-- nor the io library. The message is always that of the Stack's own status.
local status = obj.status or {}
local metadata = obj.metadata or {}
local spec = obj.spec or {}

local function is_true(type)
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == type then
      return condition.status == "True", condition.message
    end
  end
  return false, nil
end

local function health(of, message)
  return { status = of, message = message or status.message or "Waiting for herd-controller to look at the Stack" }
end

-- What the status says is about an older spec, or about nothing yet.
if (status.observedGeneration or -1) < (metadata.generation or 0) then
  return health("Progressing")
end

local stalled, why = is_true("Stalled")
if stalled then
  return health("Degraded", why)
end
if status.phase == "Failed" then
  return health("Degraded")
end
if metadata.deletionTimestamp ~= nil then
  return health("Progressing")
end
if is_true("Ready") then
  return health("Healthy")
end
if spec.paused then
  return health("Suspended")
end
return health("Progressing")
