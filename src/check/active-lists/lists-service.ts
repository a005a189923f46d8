import { errorCode, StartupError } from "../../base/errors.ts"
import { createIntervals } from "../../base/time.ts"
import { METRIC_LABELS, type Sample } from "../../contract/metrics.ts"
import { findRoleWord } from "../address/address-hints.ts"
import { loadMailboxRules } from "../address/mailbox-rules.ts"
import { classifySuffix } from "../address/public-suffix.ts"
import type { DomainLists, LoadedLists } from "../domain-lookup.ts"
import {
  type ChangedFile,
  changedFiles,
  DAMAGE_FILE,
  isTold,
  type ListsDamage,
  readDamage,
  writeDamage,
} from "../refresh/list-files.ts"
import { askedAtMs, STATE_FILE } from "../refresh/refresh-state.ts"
import {
  type DamagedLists,
  damageNow,
  hasOtherLists,
  inOneProcess,
  LISTS_DISK_REMEDY,
  type ListsContext,
  type ListsInPlace,
  logUnwritten,
  openInPlace,
  pathOf,
  readActiveLists,
  refreshFolder,
  replaceFiles,
} from "./lists-in-place.ts"

/** How long after the start the lists are warmed up, so that the first requests do not wait for it. */
const WARM_UP_DELAY_MS = 100

/** How often the server checks whether a refresh of any process has put other lists in place. */
const REFRESH_POLL_MS = 2000

/** How often the files of the lists in use are compared with the copy in memory. */
export const LISTS_COMPARE_MS = 5 * 60_000

/** Within this time all workers are told to load the lists, or find them by themselves. */
const TOLD_TOGETHER_MS = 5000

const CHANGED_FILE_REMEDY =
  "Verdicts do not change: they come from memory. Look for errors of the disk, and for programs that write below the data directory."
const BUNDLED_LISTS_REMEDY =
  "Verdicts do not change: they come from memory. Install mailkind again, or build the lists again, before the next start."

/** The active lists of a server. */
export type ListsService = Awaited<ReturnType<typeof createListsService>>

/** Opens the active lists and follows their changes. Rejects with `StartupError` if no complete lists exist. */
export async function createListsService(context: ListsContext) {
  // Read before the files: what changes meanwhile is seen by the first poll.
  const seen = { state: modifiedAtMs(context, STATE_FILE), damage: modifiedAtMs(context, DAMAGE_FILE) }
  const known = await readDamage(refreshFolder(context))
  const { opened, damaged } = await openInPlace(context)
  const followed = new FollowedLists(context, opened, known, seen)
  if (damaged !== null) await followed.tell(damageNow(context, damaged.file))
  const { setTimer, runInterval } = context.system
  const intervals = createIntervals(runInterval, [
    [REFRESH_POLL_MS, () => followed.poll()],
    [LISTS_COMPARE_MS, () => followed.compare()],
  ])
  let cancelWarmUp = (): void => undefined
  return {
    /** The lists in use. A refresh replaces them. */
    current: (): LoadedLists => followed.current,
    /** The last damage of files of refreshed lists that any process of the data directory noticed; null: none for a week. */
    damage: (): ListsDamage | null => followed.damage,
    samples: () => listsSamples(followed.current, followed.damage),
    /**
     * Compares the files of the lists in use with the copy in memory, and writes those again that differ. Then loads the lists that are in
     * place, if they are complete; otherwise keeps the current ones and logs why.
     */
    reload: async (): Promise<void> => {
      void followed.compare()
      await followed.load(true)
    },
    start: () => {
      cancelWarmUp = setTimer(WARM_UP_DELAY_MS, () => warmUp(followed.current.lists))
      intervals.start()
    },
    stop: () => {
      cancelWarmUp()
      intervals.stop()
    },
  }
}

/** What is measured of lists in use. */
export function listsSamples(
  { lists: { pack }, refreshState }: LoadedLists,
  damage: ListsDamage | null,
): readonly Sample[] {
  const sources = Object.values(refreshState.sources)
  return [
    ["mailkind_lists_built_timestamp_seconds", Date.parse(pack.builtAt) / 1000],
    ["mailkind_lists_refreshed_timestamp_seconds", refreshState.refreshed_at_ms / 1000],
    ["mailkind_lists_asked_timestamp_seconds", askedAtMs(refreshState) / 1000],
    ["mailkind_lists_pinned", refreshState.pinned === null ? 0 : 1],
    ["mailkind_lists_damaged", damage?.is_replaced === false ? 1 : 0],
    ["mailkind_lists_damage_timestamp_seconds", (damage?.noticed_at_ms ?? 0) / 1000],
    ...METRIC_LABELS.set.map((set): Sample => ["mailkind_lists_entries", pack.entryCounts[set], set]),
    ...METRIC_LABELS.source_outcome.map(
      (outcome): Sample => [
        "mailkind_lists_sources",
        sources.filter(source => source.outcome === outcome).length,
        outcome,
      ],
    ),
  ]
}

/** The first check builds its tables of names, words and mailboxes, which takes about 60 ms. This spares a request that time. */
function warmUp({ lookupDomain, addressWords }: DomainLists): void {
  lookupDomain("first.question", "first.question")
  findRoleWord("first", addressWords)
  classifySuffix("first.question")
  loadMailboxRules()
}

const modifiedAtMs = (context: ListsContext, name: string): number | null =>
  context.system.files.modifiedAtMs(pathOf(context, name))

/** The lists in use, and what is known of their files. */
class FollowedLists {
  readonly #context: ListsContext
  #current: ListsInPlace
  #damage: ListsDamage | null
  /** When the files were modified that were read last. */
  readonly #seen: { state: number | null; damage: number | null }
  /** One at a time: of two concurrent loads the earlier one could finish last. */
  #last: Promise<void> = Promise.resolve()

  constructor(
    context: ListsContext,
    opened: ListsInPlace,
    damage: ListsDamage | null,
    seen: { state: number | null; damage: number | null },
  ) {
    this.#context = context
    this.#current = opened
    this.#damage = damage
    this.#seen = seen
  }

  get current(): LoadedLists {
    return this.#current
  }

  get damage(): ListsDamage | null {
    const nowMs = this.#context.system.clock()
    return this.#damage !== null && isTold(this.#damage, nowMs) ? this.#damage : null
  }

  /** Tells every process of a damage. */
  async tell(damage: ListsDamage): Promise<void> {
    this.#damage = damage
    await writeDamage(refreshFolder(this.#context), damage).catch(error =>
      logUnwritten(this.#context, DAMAGE_FILE, error),
    )
  }

  /** Loads the lists that are in place, and reads what another process told, if either has changed. */
  poll(): void {
    if (modifiedAtMs(this.#context, STATE_FILE) !== this.#seen.state) void this.load(false)
    const toldAtMs = modifiedAtMs(this.#context, DAMAGE_FILE)
    if (toldAtMs === this.#seen.damage) return
    this.#seen.damage = toldAtMs
    void this.#runNext(async () => {
      this.#damage = (await readDamage(refreshFolder(this.#context))) ?? this.#damage
    })
  }

  /** Loads the lists that are in place. `isForced`: also if they have the version of the current ones. */
  load(isForced: boolean): Promise<void> {
    return this.#runNext(() => this.#load(isForced, false))
  }

  /** Compares the files with memory, and writes those again that differ. */
  compare(): Promise<void> {
    return this.#runNext(() => this.#compare())
  }

  async #load(isForced: boolean, isRetry: boolean): Promise<void> {
    this.#seen.state = modifiedAtMs(this.#context, STATE_FILE)
    const loaded = await readActiveLists(this.#context, this.#current)
    if ("remedy" in loaded) {
      // The comparison logs a damaged file of the lists in use, and writes it again.
      if (isRetry || this.#current.files.some(({ name }) => name === loaded.file)) return
      await inOneProcess(this.#context, () => this.#tellUnusable(loaded))
      return
    }
    await this.#tellReplaced()
    const { version } = loaded.lists.pack
    if (version === this.#current.lists.pack.version && !isForced) {
      this.#current = { ...loaded, lists: this.#current.lists }
      return
    }
    warmUp(loaded.lists)
    this.#current = loaded
    this.#context.log("info", "the lists were reloaded", { version })
  }

  /** Tells of lists in place that cannot be used, unless another process has just done so. */
  async #tellUnusable({ file, message: why, remedy }: DamagedLists): Promise<void> {
    const damage = damageNow(this.#context, file)
    const told = await readDamage(refreshFolder(this.#context))
    const isSame = told?.file === file && !told.is_replaced
    if (isSame && Math.abs(damage.noticed_at_ms - told.noticed_at_ms) < TOLD_TOGETHER_MS) {
      this.#damage = told
      return
    }
    this.#context.log("error", "the current lists stay in use", { where: pathOf(this.#context, file), why, remedy })
    await this.tell(damage)
  }

  async #compare(): Promise<void> {
    const isReplaced = await hasOtherLists(this.#context, this.#current)
    const changed = isReplaced ? [] : await changedFiles(refreshFolder(this.#context), this.#current.files)
    const tellChanged = async ({ file, why }: ChangedFile): Promise<void> => {
      this.#context.log("error", "a file of the lists was changed on the disk", {
        where: pathOf(this.#context, file.name),
        ...{ why, remedy: CHANGED_FILE_REMEDY },
      })
      await this.tell(damageNow(this.#context, file.name))
    }
    if (changed.length > 0) {
      if (await replaceFiles(this.#context, this.#current, tellChanged)) await this.#tellReplaced()
      // Lists that were damaged at the start may have been mended since.
    } else if (this.#damage?.is_replaced === false) await this.#load(false, true)
  }

  async #tellReplaced(): Promise<void> {
    if (this.#damage?.is_replaced === false) await this.tell({ ...this.#damage, is_replaced: true })
  }

  #runNext(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last
      .then(work)
      .catch(error => this.#context.log("error", "the current lists stay in use", loadFailure(this.#context, error)))
    return this.#last
  }
}

/** What keeps lists from being loaded: the bundled ones, or the disk of the data directory. */
const loadFailure = (context: ListsContext, error: unknown) =>
  error instanceof StartupError
    ? { where: "the bundled lists", why: String(error.cause ?? error.message), remedy: BUNDLED_LISTS_REMEDY }
    : { where: pathOf(context, STATE_FILE), why: errorCode(error), remedy: LISTS_DISK_REMEDY }
