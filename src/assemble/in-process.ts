import { parseAddressOrDomain, testDomainOf } from "../check/address/parse-subject.ts"
import type { Subject } from "../check/address/subject.ts"
import { type Check, createCheck, type OwnListMatch } from "../check/check.ts"
import { type DomainLists, openLists } from "../check/domain-lookup.ts"
import { LISTS_ALONE } from "../check/lists-alone.ts"
import type { Folder } from "../check/refresh/refresh-state.ts"
import { parseSettings, type Settings } from "../config/settings.ts"
import { parseEntry } from "../customers/own-lists/entries.ts"
import { EntryIndex, lookupIn, NO_ENTRIES, NOT_ON_OWN_LISTS } from "../customers/own-lists/own-list-cache.ts"
import type { OwnList } from "../customers/own-lists/own-lists.ts"
import { createRequestIds } from "../http/response/request-id.ts"
import { MailkindError } from "../in-process/mailkind-error.ts"
import { faultyOption, invalidOption, settingsOf } from "../in-process/options.ts"
import type { OpenOptions } from "../in-process/public-types.d.ts"
import { BUNDLED_FILES, readNow } from "../system/files.ts"
import { createOutsideWorld } from "../system/outside-world.ts"
import { createDeepChecksService } from "./check/deep-checks.ts"
import { createNetworkService, createOnDefect } from "./check/network.ts"

/** A check inside another program, and what a result needs besides. */
type InProcessCheck = {
  readonly check: Check
  /** The same without the network. */
  readonly checkByLists: Check
  readonly matchOwnLists: (subject: Subject) => OwnListMatch
  readonly requestId: () => string
  readonly testDomain: string
  readonly listsVersion: string
  /** Closes the sockets. */
  readonly stop: () => void
}

/** Wires a check without store, log and files of its own. Throws a `MailkindError`. */
export function assembleInProcess(options: OpenOptions): InProcessCheck {
  const settings = readSettings(options)
  const matchOwnLists = createOwnListMatch(options)
  const lists = openListsFile(options)
  const system = { ...createOutsideWorld(), files: { folder: () => EMPTY_FOLDER } }
  const context = { system, settings, log: () => undefined }
  const network = createNetworkService(
    context,
    { learnedHosts: null, matchLists: (domain, registrable) => lists.pack.match(domain, registrable) },
    { dnsCacheBytes: options.dnsCacheBytes },
  )
  const { deepProbe } = createDeepChecksService(context, network, null)
  const byLists = { ...system, ...LISTS_ALONE, activeLists: () => lists, onDefect: createOnDefect(context) }
  return {
    check: createCheck({ ...byLists, networkProbe: network.networkProbe, deepProbe }),
    checkByLists: createCheck(byLists),
    matchOwnLists,
    requestId: createRequestIds(system.random),
    testDomain: testDomainOf(settings.MAILKIND_TEST_DOMAIN),
    listsVersion: lists.pack.version,
    stop: network.stop,
  }
}

function readSettings(options: OpenOptions): Settings {
  const parsed = parseSettings(settingsOf(options))
  if (parsed.kind === "faulty") throw invalidOption(faultyOption(parsed.faults))
  return parsed.settings
}

/** Set when the package is built: where its lists are, seen from its program. */
declare const MAILKIND_LISTS: string | undefined

const OWN_LISTS = new URL(
  typeof MAILKIND_LISTS === "string" ? MAILKIND_LISTS : `../../${BUNDLED_FILES["lists.pack"]}`,
  import.meta.url,
)

/** The lists of the package are ours, so their checksum is enough; those of another file are verified as a whole. */
function openListsFile({ listsFile, cachedDomains }: OpenOptions): DomainLists {
  const bytes = readNow(listsFile ?? OWN_LISTS)
  if (bytes === null)
    throw new MailkindError(
      "lists_missing",
      listsFile === undefined
        ? "The lists of the package are missing. Install it again."
        : "There is no file at `listsFile`.",
    )
  const opened = openLists(bytes, listsFile === undefined, cachedDomains)
  if (opened.kind === "refused") throw new MailkindError("lists_damaged", `${opened.message} ${opened.remedy}`)
  return opened.lists
}

/** Matches the options `block` and `allow` as the lists of an account are matched. */
function createOwnListMatch({ block = [], allow = [] }: OpenOptions): InProcessCheck["matchOwnLists"] {
  const rows = [...entryRows("block", block), ...entryRows("allow", allow)]
  const index = new EntryIndex(rows)
  return subject => (subject.isTest ? NOT_ON_OWN_LISTS : lookupIn(NO_ENTRIES, index, subject))
}

const entryRows = (list: OwnList, texts: readonly string[]) =>
  texts.map(text => {
    const entry = parseEntry(text, parseAddressOrDomain)
    if (entry === null) throw invalidOption(list)
    return { list, entry: entry.storedText }
  })

/** A program that imports the package gets no files. */
const EMPTY_FOLDER: Folder = {
  read: async () => null,
  isSame: async () => false,
  writeAtomic: async () => undefined,
  createExclusive: async () => false,
  remove: async () => undefined,
  list: async () => [],
}
