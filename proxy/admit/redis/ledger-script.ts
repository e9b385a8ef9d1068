/**
 * Holds the Lua script that takes every decision of the shared ledger, in one atomic step on the store.
 *
 * A run carries one or several commands; each is decided whole before the next. Sums are 64-bit integers that the store
 * adds itself (`HINCRBY`) and the script compares as decimal texts: a Lua number is a double, which is exact to 2^53
 * only. Time is the store's own, so that no clock of a proxy opens a window. What reservations are and how they end is in
 * `reservation-script.ts`.
 *
 * Keys, all with one hash tag so that they lie on one shard: `:epoch`, `:seen` (times of the last run and of silences
 * nothing expires), `:sweep` (there while counters were swept lately), `:due` (sorted set of open reservations by the time at which they expire), `:r:ID` (a reservation),
 * `:c:COUNTER` (a hash). A counter has fields by kind: the letter
 * of what is counted and the field. Kinds are R T I O C (requests, tokens, input, output, cost), the same small for
 * token buckets, B (balance) and F (calls in flight). Fields of a window: m (limit, period and zone, start, end),
 * h (headroom: limit - posted - pending), p (pending), g (generation: changes when the sums begin anew). Of a bucket:
 * m (its shape), l (level), r (remainder), a (filled until), p, g. Field k: the kind counted last.
 */
import { reservationScript } from "./reservation-script.ts";

const basics = `
local prefix = KEYS[1]
local found = redis.call("GET", prefix .. ":epoch")
if found ~= ARGV[1] then return {"epoch", found or ""} end
local ttl = tonumber(ARGV[2])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most, never = "9223372036854775807", 9000000000000000
local keptMs, lateMs = 172800000, 86400000

local function text(number) return string.format("%.0f", number) end

local function negated(amount)
  if amount == "0" then return "0" end
  if string.sub(amount, 1, 1) == "-" then return string.sub(amount, 2) end
  return "-" .. amount
end

-- Adds exactly; a sum beyond 64 bits stays at their end, where nothing fits any more.
local function add(key, field, amount)
  if amount == "0" then return end
  local answer = redis.pcall("HINCRBY", key, field, amount)
  if type(answer) ~= "table" or not answer.err then return end
  if not string.find(answer.err, "overflow", 1, true) then error(answer.err) end
  local isBelow = string.sub(amount, 1, 1) == "-"
  redis.call("HSET", key, field, isBelow and ("-" .. most) or most)
end

-- Whether a field holds a sum: found out before the first write, so that no reservation is held in part.
local function isSum(value) return type(value) == "string" and string.find(value, "^%-?%d+$") ~= nil and #value <= 20 end

-- Whether an amount, never negative, is at most what is left: as texts, exact at any length.
local function within(amount, left)
  if string.sub(left, 1, 1) == "-" then return false end
  if #amount ~= #left then return #amount < #left end
  return amount <= left
end

-- A counter lives until it matters no more; one that ever counted without end stays.
local function keep(key, isNew, ms)
  if ms >= never then redis.call("PERSIST", key)
  elseif isNew then redis.call("PEXPIREAT", key, text(ms))
  else redis.call("PEXPIREAT", key, text(ms), "GT") end
end

-- Whether it counts anything without end. A key of another type is none of the ledger's.
local function isEndless(key)
  local metas = redis.pcall("HMGET", key, "Rm", "Tm", "Im", "Om", "Cm", "Bm", "Fm")
  for index = 1, #metas do
    if metas[index] and string.find(metas[index], "|" .. text(never), 1, true) then return true end
  end
  return false
end

local function generation(before)
  local last = tonumber(before or "0")
  return text(now > last and now or last + 1)
end
`;

const windows = `
-- What was counted goes on under another limit, another period or zone, or a clock set back: nothing is granted anew.
local function carry(key, kind, meta, oldLimit, limit)
  if oldLimit ~= limit then
    add(key, kind .. "h", negated(oldLimit))
    add(key, kind .. "h", limit)
  end
  redis.call("HSET", key, kind .. "m", meta, "k", kind)
  return redis.call("HMGET", key, kind .. "g", kind .. "h", kind .. "p")
end

local function begin(key, kind, meta, limit, endMs, before)
  local isNew = redis.call("EXISTS", key) == 0
  local g = generation(before)
  redis.call("HSET", key, kind .. "m", meta, kind .. "g", g, kind .. "h", limit, kind .. "p", "0", "k", kind)
  keep(key, isNew, endMs >= never and never or endMs + keptMs)
  return {g, limit, "0"}
end

-- The window's sums at present: generation, headroom, pending.
local function window(key, kind, limit, definition, startMs, endMs)
  local meta = limit .. "|" .. definition .. "|" .. text(startMs) .. "|" .. text(endMs)
  local state = redis.call("HMGET", key, kind .. "m", kind .. "g", kind .. "h", kind .. "p", "k")
  if state[1] == meta then
    if state[5] ~= kind then redis.call("HSET", key, "k", kind) end
    return {state[2], state[3], state[4]}
  end
  if not state[1] then return begin(key, kind, meta, limit, endMs, state[2]) end
  local oldLimit, oldDefinition, oldStart, oldEnd = string.match(state[1], "^(-?%d+)|([^|]*)|(%d+)|(%d+)$")
  oldStart, oldEnd = tonumber(oldStart), tonumber(oldEnd)
  if oldDefinition ~= definition then
    if oldEnd <= startMs then return begin(key, kind, meta, limit, endMs, state[2]) end
    keep(key, false, endMs >= never and never or endMs + keptMs)
    return carry(key, kind, meta, oldLimit, limit)
  end
  if startMs > oldStart then return begin(key, kind, meta, limit, endMs, state[2]) end
  -- Another store whose clock is behind by moments must not open the window twice.
  if startMs < oldStart and oldStart - now <= 5000 then
    meta = limit .. "|" .. definition .. "|" .. text(oldStart) .. "|" .. text(oldEnd)
  end
  return carry(key, kind, meta, oldLimit, limit)
end
`;

const buckets = `
local function saveBucket(key, kind, b)
  redis.call("HSET", key, kind .. "l", text(b.level), kind .. "r", text(b.rest), kind .. "a", text(b.at))
end

-- Lets flow in what the time since is worth, in whole numbers: the product is split where it could pass 2^53.
local function fill(b)
  local elapsed = now - b.at
  if elapsed <= 0 then return end
  b.at = now
  if b.level >= b.burst then return end
  local part = math.fmod(elapsed, b.period)
  local whole = (elapsed - part) / b.period * b.refill
  if whole >= b.burst - b.level then b.level, b.rest = b.burst, 0 return end
  local low = math.fmod(b.refill, 1048576)
  local product = part * ((b.refill - low) / 1048576)
  local rest = math.fmod(product, b.period)
  local sum = rest * 1048576 + part * low + b.rest
  local over = math.fmod(sum, b.period)
  b.level = b.level + whole + (product - rest) / b.period * 1048576 + (sum - over) / b.period
  b.rest = over
  if b.level >= b.burst then b.level, b.rest = b.burst, 0 end
end

local function shaped(meta)
  local refill, burst, period, scale = string.match(meta, "^(%d+)|(%d+)|(%d+)|(%d+)$")
  return {refill = tonumber(refill), burst = tonumber(burst), period = tonumber(period), scale = tonumber(scale)}
end

local function bucketAt(key, kind)
  local state = redis.call("HMGET", key, kind .. "m", kind .. "l", kind .. "r", kind .. "a", kind .. "p", kind .. "g", "k")
  if not state[1] then return nil, state end
  local b = shaped(state[1])
  b.level, b.rest, b.at = tonumber(state[2]), tonumber(state[3]), tonumber(state[4])
  b.pending, b.g = state[5], state[6]
  fill(b)
  return b, state
end

local function keepBucket(key, isNew, b)
  local full = b.refill == 0 and never or now + math.ceil((b.burst - b.level) / b.refill * b.period)
  keep(key, isNew, full + keptMs >= never and never or full + keptMs)
end

local function bucket(key, kind, meta)
  local b, state = bucketAt(key, kind)
  if b and state[7] ~= kind then redis.call("HSET", key, "k", kind) end
  if not b then
    b = shaped(meta)
    b.level, b.rest, b.at, b.pending, b.g = b.burst, 0, now, "0", generation(nil)
    local isNew = redis.call("EXISTS", key) == 0
    redis.call("HSET", key, kind .. "m", meta, kind .. "p", "0", kind .. "g", b.g, "k", kind)
    saveBucket(key, kind, b)
    keepBucket(key, isNew, b)
  elseif state[1] ~= meta then
    local after = shaped(meta)
    if after.scale ~= b.scale then b.level = math.floor(b.level / after.scale * b.scale) end
    if after.period ~= b.period then b.rest = 0 end
    b.refill, b.burst, b.period, b.scale = after.refill, after.burst, after.period, after.scale
    if b.level >= b.burst then b.level, b.rest = b.burst, 0 end
    redis.call("HSET", key, kind .. "m", meta)
    saveBucket(key, kind, b)
  end
  return b
end

local function units(b, amount)
  local value = tonumber(amount)
  return value < 0 and -math.ceil(-value / b.scale) or math.ceil(value / b.scale)
end

-- Replaces what was consumed when it was reserved by what was used; more than that leads into debt.
local function correct(key, kind, g, held, actual)
  local b = bucketAt(key, kind)
  if not b then return end
  b.level = math.max(b.level + units(b, held) - units(b, actual), -4503599627370496)
  if b.level >= b.burst then b.level, b.rest = b.burst, 0 end
  saveBucket(key, kind, b)
  keepBucket(key, false, b)
  if b.g == g then add(key, kind .. "p", negated(held)) end
end
`;

const claims = `
local notSums = {err = "a counter holds something other than its sums"}

-- One claim of ten arguments; nil where the proxy named a window that the store's clock is not in.
local function claimAt(at)
  local kind, amount = ARGV[at + 1], ARGV[at + 4]
  local claim = {name = ARGV[at], kind = kind, amount = amount, key = prefix .. ":c:" .. ARGV[at]}
  if ARGV[at + 2] == "bucket" then
    local b = bucket(claim.key, kind, ARGV[at + 5])
    if not (b.g and b.level and b.rest and b.at and isSum(b.pending)) then error(notSums) end
    claim.bucket, claim.g = b, b.g
    claim.fits = units(b, amount) <= b.level
    claim.shown = {text(b.level), b.pending, text(b.at)}
  else
    local length, startMs, endMs = tonumber(ARGV[at + 7]), tonumber(ARGV[at + 8]), tonumber(ARGV[at + 9])
    if length > 0 then
      startMs = now - math.fmod(now, length)
      endMs = startMs + length
    elseif now < startMs or now >= endMs then return nil end
    local state = window(claim.key, kind, ARGV[at + 5], ARGV[at + 6], startMs, endMs)
    if not (state[1] and isSum(state[2]) and isSum(state[3])) then error(notSums) end
    claim.g = state[1]
    claim.fits = within(amount, state[2])
    claim.shown = {state[2], state[3], text(endMs)}
  end
  claim.binds = ARGV[at + 3] == "1"
  return claim
end
`;

const commands = `
local run = {}

-- reserve ID COUNT CLAIM...: all of the claims or none, once by an id. Answers what each had before, in their order.
function run.reserve(at)
  local id, count = ARGV[at], tonumber(ARGV[at + 1])
  local known = redis.call("GET", prefix .. ":r:" .. id)
  local state = known and string.sub(known, 1, 1)
  if state == "o" then return {"known"} end
  if state == "t" then return {"error", "it was settled before it came"} end
  local claims, fits = {}, true
  for index = 1, count do
    local claim = claimAt(at + 2 + (index - 1) * 10)
    if not claim then return {"moved"} end
    claims[index] = claim
    if claim.binds and not claim.fits then fits = false end
  end
  local answer = {fits and "reserved" or "refused"}
  for _, claim in ipairs(claims) do
    for _, value in ipairs(claim.shown) do answer[#answer + 1] = value end
  end
  if fits then hold(id, claims) end
  return answer
end

local function usedAt(at)
  local r, t, i, o, c = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  return {R = r, T = t, I = i, O = o, C = c, B = c, F = "0", r = r, t = t, i = i, o = o, c = c}
end

-- settle ID REQUESTS TOKENS INPUT OUTPUT COST MARKER: once; a second time has a name of its own and counts nothing, for
-- MARKER milliseconds.
function run.settle(at)
  local id, key = ARGV[at], prefix .. ":r:" .. ARGV[at]
  local stored = redis.call("GET", key)
  local state = stored and string.sub(stored, 1, 1) or "t"
  if state == "s" then return "repeated" end
  redis.call("SET", key, state == "t" and "t" or "s", "PX", ARGV[at + 6])
  if state == "t" then return "unknown" end
  redis.call("ZREM", due, id)
  post(cmsgpack.unpack(string.sub(stored, 2)), state == "o" and itsAmount or noAmount, usedAt(at + 1))
  return state == "o" and "settled" or "late"
end

-- post ID MARKER COUNT CLAIM...: counts what was used without a reservation, while the store was away; once by an id,
-- for MARKER milliseconds.
function run.post(at)
  local key, count = prefix .. ":r:" .. ARGV[at], tonumber(ARGV[at + 2])
  if redis.call("EXISTS", key) == 1 then return "repeated" end
  local claims = {}
  for index = 1, count do
    claims[index] = claimAt(at + 3 + (index - 1) * 10)
    if not claims[index] then return "moved" end
  end
  redis.call("SET", key, "s", "PX", ARGV[at + 1])
  for _, claim in ipairs(claims) do
    if claim.bucket then
      claim.bucket.level = math.max(claim.bucket.level - units(claim.bucket, claim.amount), -4503599627370496)
      saveBucket(claim.key, claim.kind, claim.bucket)
      keepBucket(claim.key, false, claim.bucket)
    else add(claim.key, claim.kind .. "h", negated(claim.amount)) end
  end
  return "settled"
end

-- touch ID...: ARGV before them is their number.
function run.touch(at)
  for index = at, at + tonumber(ARGV[at - 1]) - 1 do touchOne(ARGV[index]) end
  return "touched"
end

-- beginSweep: one proxy in an hour.
function run.beginSweep()
  return redis.call("SET", prefix .. ":sweep", "s", "NX", "PX", 3300000) and "begun" or "elsewhere"
end

-- sweep RETENTION COUNTER LIVE...: what counts without end goes so many milliseconds after its object.
function run.sweep(at)
  for index = at + 1, at + tonumber(ARGV[at - 1]) - 1, 2 do
    local key = prefix .. ":c:" .. ARGV[index]
    if ARGV[index + 1] == "0" then redis.call("PEXPIRE", key, ARGV[at], "NX")
    elseif redis.call("PTTL", key) > 0 and isEndless(key) then redis.call("PERSIST", key) end
  end
  return "swept"
end

-- read COUNTER: its kind and fields; the proxy makes sums of them.
function run.read(at)
  local key = prefix .. ":c:" .. ARGV[at]
  local kind = redis.call("HGET", key, "k")
  if not kind then return {} end
  if isBucket(kind) then
    local b = bucketAt(key, kind)
    return {kind, text(b.burst - b.level), text(b.scale), b.pending, text(b.at)}
  end
  local state = redis.call("HMGET", key, kind .. "m", kind .. "h", kind .. "p")
  return {kind, state[1], state[2], state[3]}
end

-- probe: whether the store takes writes.
function run.probe()
  redis.call("SET", prefix .. ":probe", text(now), "PX", 60000)
  return "writes"
end

-- An error of one command, as of a key of another type, is that command's alone: all read before they write.
local hasExpired, expired = pcall(expire)
local answers = {"done", text(now), hasExpired and expired or 0, 0, 0}
local at = 3
while at <= #ARGV do
  local ok, answer = pcall(run[ARGV[at]], at + 2)
  if not ok then answer = {"error", type(answer) == "table" and answer.err or tostring(answer)} end
  answers[#answers + 1] = answer
  at = at + 2 + tonumber(ARGV[at + 1])
end
answers[4], answers[5] = resumed, broken
return answers
`;

/** Arguments: epoch, time to live in ms, then commands with theirs. One key: the prefix of all, with its hash tag. */
export const ledgerScript = [basics, windows, buckets, claims, reservationScript, commands].join("\n");
