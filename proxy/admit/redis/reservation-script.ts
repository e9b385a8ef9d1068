/**
 * Holds the part of the ledger's Lua script (`ledger-script.ts`) that knows reservations: what they hold in which
 * counters, how that is replaced by what was used, and when it is given back.
 *
 * The first letter of a record `:r:ID` tells its state: o (open), x (expired; what it used is still posted for a day),
 * s (settled) and t (settled before it was there: the one that comes late holds nothing). After o and x follow name,
 * kind, generation and amount of each counter.
 */

export const reservationScript = `
local function isBucket(kind) return string.find(kind, "%l") ~= nil end

local due = prefix .. ":due"
local resumed, broken = 0, 0

local function postOne(key, kind, g, held, used)
  if isBucket(kind) then correct(key, kind, g, held, used)
  elseif redis.call("HGET", key, kind .. "g") == g then
    add(key, kind .. "p", negated(held))
    if held ~= used then
      add(key, kind .. "h", held)
      add(key, kind .. "h", negated(used))
    end
  end
end

-- Replaces what a record holds in its counters by what was used. An amount of a window that is over counts nowhere. A
-- counter that is none any more keeps nothing from the others; callers have written before, so the store takes writes.
local function post(record, heldOf, actual)
  for index = 1, #record, 4 do
    local kind = record[index + 1]
    local key, held = prefix .. ":c:" .. record[index], heldOf(record[index + 3])
    if not pcall(postOne, key, kind, record[index + 2], held, actual[kind]) then broken = broken + 1 end
  end
end

local function itsAmount(amount) return amount end
local function noAmount() return "0" end
local nothing = {R = "0", T = "0", I = "0", O = "0", C = "0", B = "0", F = "0", r = "0", t = "0", i = "0", o = "0", c = "0"}

local function expireOne(id)
  local key = prefix .. ":r:" .. id
  local stored = redis.call("GET", key)
  if not stored or string.sub(stored, 1, 1) ~= "o" then return 0 end
  redis.call("SET", key, "x" .. string.sub(stored, 2), "PX", lateMs)
  post(cmsgpack.unpack(string.sub(stored, 2)), itsAmount, nothing)
  return 1
end

-- Up to which time due reservations may expire now. Nobody could renew what runs while the store was silent: after that
-- all have one more time to live. A store that is asked seldom is silent often, so what was due at one silence goes at
-- the next.
local function expiresUpTo()
  local stored = redis.call("GET", prefix .. ":seen") or ""
  local last, from, before = string.match(stored, "^(%d+) (%d+) (%d+)$")
  last, from, before = tonumber(last) or now, tonumber(from) or 0, tonumber(before) or 0
  if from > now then from, before = 0, 0 end
  if now - last >= ttl / 2 and now - from >= ttl then from, before = now, from end
  redis.pcall("SET", prefix .. ":seen", text(now) .. " " .. text(from) .. " " .. text(before))
  return now - from >= ttl and now or before
end

-- Gives back what nobody settled or renewed in time.
local function expire()
  local count = 0
  for _, id in ipairs(redis.call("ZRANGEBYSCORE", due, "-inf", text(expiresUpTo()), "LIMIT", 0, 100)) do
    -- First, so that one which cannot be given back is tried once.
    local removed = redis.pcall("ZREM", due, id)
    if type(removed) == "table" then return count end
    local ok, expired = pcall(expireOne, id)
    if ok then count = count + expired else broken = broken + 1 end
  end
  return count
end

-- Keeps a reservation for another time to live. One that has expired holds its amounts again, whatever is left: its call
-- is running and will use them.
local function touchOne(id)
  local dueMs = text(now + ttl)
  if redis.call("ZADD", due, "XX", "CH", dueMs, id) == 1 then return end
  local key = prefix .. ":r:" .. id
  local stored = redis.call("GET", key)
  if not stored or string.sub(stored, 1, 1) ~= "x" then return end
  redis.call("SET", key, "o" .. string.sub(stored, 2))
  redis.call("ZADD", due, dueMs, id)
  post(cmsgpack.unpack(string.sub(stored, 2)), negated, nothing)
  resumed = resumed + 1
end

local function hold(id, claims)
  local record = {}
  for _, claim in ipairs(claims) do
    local key, kind, amount = claim.key, claim.kind, claim.amount
    add(key, kind .. "p", amount)
    if claim.bucket then
      claim.bucket.level = claim.bucket.level - units(claim.bucket, amount)
      saveBucket(key, kind, claim.bucket)
      keepBucket(key, false, claim.bucket)
    else add(key, kind .. "h", negated(amount)) end
    local n = #record
    record[n + 1], record[n + 2], record[n + 3], record[n + 4] = claim.name, kind, claim.g, amount
  end
  redis.call("SET", prefix .. ":r:" .. id, "o" .. cmsgpack.pack(record))
  redis.call("ZADD", due, text(now + ttl), id)
end
`;
