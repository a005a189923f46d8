import { steppedClock } from "./clocks.ts"
import { brokenOff, headerFloods, idleConnections, noDescriptors, slowClients } from "./connections.ts"
import { damagedLists, damagedLog, damagedPages } from "./damages.ts"
import { databaseAway } from "./database.ts"
import { olderDatabase } from "./database-older.ts"
import { fullDisk, readOnlyDirectory } from "./disks.ts"
import type { Fault } from "./fault.ts"
import { killedAtAnyMoment, killedAtTheQuota } from "./kills.ts"
import { outages } from "./outages.ts"
import { wrongDns, wrongMailServer } from "./outside.ts"
import { poisonousLists } from "./poison.ts"
import { manyNewNames, manyNewNamesInSmallGroup, manyNewNamesOfWorkers } from "./sizing.ts"
import { hiddenRequests } from "./smuggling.ts"
import { killedWorkers } from "./workers.ts"
import { quietYear } from "./year.ts"

/** Everything that is done to a server, and the promise that each puts to the test. */
export const FAULTS = {
  kill: {
    promise:
      "What was acknowledged is there after kill -9: sign-ins, keys and revocations, reports, entries of lists, terms.",
    times: { short: 3, long: 40 },
    does: killedAtAnyMoment,
  },
  kill_quota: {
    promise: "However servers are killed, no unit above a quota is admitted.",
    times: { short: 1, long: 5 },
    does: killedAtTheQuota,
  },
  kill_worker: {
    promise: "When one worker is killed the others go on, and its seat is taken again.",
    times: { short: 1, long: 10 },
    does: killedWorkers,
  },
  poison: {
    promise:
      "A list with a row that ends or hangs its process does so twice and then fails, with every row before it done; nobody else notices.",
    times: { short: 1, long: 3 },
    does: poisonousLists,
  },
  full_disk: {
    promise:
      "On a full disk checks are answered, what cannot be kept is not acknowledged, and nothing needs a restart.",
    times: { short: 1, long: 20 },
    does: fullDisk,
  },
  read_only: {
    promise: "A directory that may not be written is told in words at the start, and stops no server that runs.",
    times: { short: 1, long: 10 },
    does: readOnlyDirectory,
  },
  log_damage: {
    promise:
      "A database log that is half written loses nothing; one that is damaged loses its end, and never half a write.",
    times: { short: 1, long: 10 },
    does: damagedLog,
  },
  page_damage: {
    promise: "A damaged database is told with its remedy, and a restore of a backup mends it.",
    times: { short: 1, long: 5 },
    does: damagedPages,
  },
  list_damage: {
    promise: "Lists that are damaged, cut or gone are replaced by those that came along.",
    times: { short: 1, long: 5 },
    does: damagedLists,
  },
  clock: {
    promise:
      "However the clock is set, no unit above a day's quota is admitted, nothing is deleted for its age, and every request is answered.",
    times: { short: 1, long: 10 },
    does: steppedClock,
  },
  dns: {
    promise: "Whatever DNS servers do, checks are answered in time, and no firm is called invalid for it.",
    times: { short: 1, long: 3 },
    does: wrongDns,
  },
  mail: {
    promise: "Nobody waits for a mail server, and every mail arrives when it is well.",
    times: { short: 1, long: 1 },
    does: wrongMailServer,
  },
  database: {
    promise:
      "Whatever becomes of PostgreSQL, what is in hand is served, the rest is refused with when to come back, and nothing acknowledged is lost.",
    times: { short: 1, long: 1 },
    does: databaseAway,
  },
  older_database: {
    promise: "Nodes that find an older copy of their database go by it, and by nothing that they held before.",
    times: { short: 1, long: 3 },
    does: olderDatabase,
  },
  outages: {
    promise:
      "Whatever a server needs goes away, its log names it in one line and stays short, nobody waits long, and nothing needs a restart.",
    times: { short: 1, long: 1 },
    does: outages,
  },
  descriptors: {
    promise: "Out of descriptors, who has a connection is served, and all are when there are some again.",
    times: { short: 1, long: 5 },
    does: noDescriptors,
  },
  idle: {
    promise: "Thousands of connections that say nothing keep nobody waiting.",
    times: { short: 1, long: 2 },
    does: idleConnections,
  },
  slow: {
    promise: "Heads and bodies that never end keep nobody waiting, and are cut off.",
    times: { short: 5, long: 100 },
    does: slowClients,
  },
  broken_off: {
    promise: "Who closes half, never reads or vanishes holds nothing, and half a request is never served.",
    times: { short: 40, long: 1000 },
    does: brokenOff,
  },
  smuggling: {
    promise: "No request hides within another one's octets.",
    times: { short: 1, long: 20 },
    does: hiddenRequests,
  },
  floods: {
    promise: "Heads of too many or too long lines are refused.",
    times: { short: 1, long: 50 },
    does: headerFloods,
  },
  sizing: {
    promise: "However many new domains are asked for in batches, memory is bounded, and it is given back afterwards.",
    times: { short: 400, long: 200_000 },
    does: manyNewNames,
  },
  sizing_group: {
    promise: "In a control group of 256 MiB, they take at most 200 MB, and nothing is killed.",
    times: { short: 400, long: 200_000 },
    does: manyNewNamesInSmallGroup,
  },
  sizing_workers: {
    promise: "In the limits of memory that the guide has for several workers, none of them is killed.",
    times: { short: 400, long: 100_000 },
    does: manyNewNamesOfWorkers,
  },
  year: {
    promise:
      "A year of quiet work leaves disk, memory, descriptors and times as they were, and nothing grows without a bound.",
    times: { short: 2, long: 365 },
    does: quietYear,
  },
} as const satisfies Record<string, Fault>
