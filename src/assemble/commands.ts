import { otherOwnerForRoot } from "../base/file-owner.ts"
import { lazy } from "../base/lazy.ts"
import { lazyPromise } from "../base/single-flight.ts"
import { decodeUtf8 } from "../base/text.ts"
import type { TextFile } from "../base/text-file.ts"
import { openActivePack, openListsForCommand } from "../check/active-lists/lists-in-place.ts"
import { testDomainOf } from "../check/address/parse-subject.ts"
import type { Subject } from "../check/address/subject.ts"
import { createCheck, NO_OWN_LIST_MATCH, type OwnListMatch } from "../check/check.ts"
import { openPack } from "../check/lists/pack/pack.ts"
import { LISTS_ALONE } from "../check/lists-alone.ts"
import type { WithCustomers } from "../cli/account/accounts.ts"
import { WORKER_COMMAND } from "../cli/classify/command.ts"
import { streamErrorMessage } from "../cli/classify/results-writer.ts"
import { CommandError, type Output, showsColor } from "../cli/output.ts"
import type { CommandDeps } from "../cli/program.ts"
import type { ServerTarget } from "../cli/server.ts"
import { createServerCheck } from "../cli/server-check.ts"
import type { Mailkind } from "../client/client.ts"
import { createMailkind } from "../client/mailkind-client.ts"
import { generateKey, KEY_KINDS } from "../customers/keys/key-format.ts"
import { mailOnce } from "../customers/mails.ts"
import { lookupIn, NO_ENTRIES, readEntryIndex } from "../customers/own-lists/own-list-cache.ts"
import { OPERATOR } from "../customers/own-lists/own-lists.ts"
import { tierLimits } from "../customers/quota/tier-limits.ts"
import { sendInvitation } from "../customers/sign-in/invitations.ts"
import type { Actor } from "../customers/store/change-log/actor.ts"
import { storeClock } from "../customers/store/core/store.ts"
import { StoreError } from "../customers/store/core/store-error.ts"
import { createRequestIds } from "../http/response/request-id.ts"
import type { System } from "../system/system.ts"
import { recordDeletions } from "./backups.ts"
import { createNetworkCaches } from "./check/caches.ts"
import { createDeepChecksService } from "./check/deep-checks.ts"
import { changeListsInForce, readListsInForce, readWaitingLists } from "./check/lists-in-force.ts"
import { createNetworkService, createOnDefect, type HostLearning, OFFLINE_NETWORK } from "./check/network.ts"
import { refreshLists } from "./check/refresh.ts"
import { type AppContext, createContext } from "./context.ts"
import { createBackupDeps, createStoreCommandDeps, hasStore, openStore } from "./customers/store.ts"
import { createDoctor } from "./doctor.ts"
import { DOCUMENTED_SETTINGS, loadInventory, loadSbom } from "./licences.ts"
import { createLocalBackend, createServerBackend } from "./mcp-backend.ts"
import { COMMIT, VERSION } from "./program.ts"
import { serve } from "./serve.ts"
import { createSettingsSource, SETTING_FLAGS, shownSettings } from "./settings.ts"

const OTHER_OWNER =
  "If a server runs as that user, run commands as that user too (setpriv --reuid=… --regid=… --clear-groups): it cannot use what root writes there."

/** Creates the context of a command. One of root's says once whose the data directory is, if it is another user's (DECISIONS 178). */
function createCommandContext(
  system: System,
  source: ReturnType<typeof createSettingsSource>,
  output: ReturnType<typeof createOutput>,
): () => AppContext {
  const warn = lazy((): void => {
    const { MAILKIND_DATA_DIR: directory } = source.require()
    const uid = otherOwnerForRoot(directory)
    if (uid !== null) output.stderrLine(`${directory} belongs to the user ${uid}. ${OTHER_OWNER}`)
  })
  return () => {
    warn()
    return createContext(system, source.require())
  }
}

/** Creates what the commands need. Each command reads the settings only when it needs one. */
export function createCommandDeps(system: System): CommandDeps {
  const output = createOutput(system)
  const source = createSettingsSource(system)
  const context = createCommandContext(system, source, output)
  return {
    output,
    ...{ version: VERSION, commit: COMMIT, settingFlags: SETTING_FLAGS },
    chooseSettings: source.choose,
    config: { read: () => shownSettings(source.read()) },
    readInput: async (path, bytesMax) =>
      path === "-" ? await readStdin(system.streams, bytesMax) : system.files.readTexts(path, bytesMax),
    clock: system.clock,
    ask: question => askAtTerminal(system, question),
    newKey: () => generateKey("secret", system.random),
    serve: options => serve(createContext(system, source.require()), source, output, options),
    openCheck: async (isOffline, server) => {
      if (server === null) return openCheck(context(), isOffline)
      const [client, local] = [await openServer(system, server), await openCheck(context(), true)]
      return { ...local, check: createServerCheck(client, local.check) }
    },
    readOwnLists: async server => (server === null ? await readOperatorLists(context()) : noOwnLists),
    openServer: server => openServer(system, server),
    openMcpBackend: async ({ isOffline, server }) => {
      const loadLists = lazyPromise(() => openListsForCommand(context()))
      if (server !== null) return createServerBackend(await openServer(system, server), loadLists)
      return createLocalBackend(await openCheck(context(), isOffline), loadLists)
    },
    classify: { ...system, startWorker: () => system.processes.startPiped([WORKER_COMMAND]) },
    coreCount: system.processes.availableCores(),
    withCustomers: createWithCustomers(context),
    lists: {
      loadLists: () => openListsForCommand(context()),
      readWaiting: () => readWaitingLists(context()),
      openPack: async path => {
        if (path === null) return await openActivePack(context())
        const bytes = await system.files.read(path)
        return bytes === null || bytes.length === 0 ? null : openPack(bytes)
      },
      refresh: only => refreshLists(context(), only),
      readInForce: () => readListsInForce(context()),
      changeInForce: act => changeListsInForce(context(), act),
      checkout: system.checkout,
    },
    licences: { inventory: () => loadInventory(system), sbom: () => loadSbom(system) },
    backups: createBackupDeps(context),
    store: createStoreCommandDeps(context),
    doctor: createDoctor(system, source.read),
    settings: DOCUMENTED_SETTINGS,
  }
}

const createOutput = ({ writeStdout, writeStderr, environment, isOutputTerminal }: System): Output => ({
  line: text => writeStdout(`${text}\n`),
  stderrLine: text => writeStderr(`${text}\n`),
  hasColor: showsColor(environment, isOutputTerminal),
})

/** Gives the store of the settings to a command, and closes it afterwards. */
const createWithCustomers =
  (context: () => AppContext): WithCustomers =>
  async work => {
    const current = context()
    const { system, settings } = current
    const store = await openStore(current, "command")
    const actor: Actor = { kind: "operator", id: system.operatorName(), source: "command", keyId: null }
    const clock = await storeClock(store, system.clock).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
    const changes = { store, clock, notify: recordDeletions(current, () => undefined), actor }
    const { MAILKIND_DEFAULT_TIER: defaultTier, MAILKIND_TIERS: tiers } = settings
    const baseUrl = settings.MAILKIND_BASE_URL ?? `http://${settings.MAILKIND_HOST}:${settings.MAILKIND_PORT}`
    const mailInvitation = (to: string, link: string): Promise<boolean> =>
      sendInvitation((receiver, notice) => mailOnce(current, baseUrl, receiver, notice), to, link)
    const invitations = { baseUrl, mailInvitation }
    const customers = { changes, random: system.random, defaultTier, tiers: tierLimits(tiers), ...invitations }
    await work(customers).finally(store.close)
  }

/** Asks on the standard error, since a program may read the standard output, and reads a line. Null: the standard input is no terminal. */
async function askAtTerminal({ isInputTerminal, streams, writeStderr }: System, question: string) {
  if (!isInputTerminal) return null
  writeStderr(question)
  let typed = ""
  for await (const chunk of (await streams.openSource("-")).chunks) {
    typed += new TextDecoder().decode(chunk)
    if (typed.includes("\n") || typed.length > TYPED_LENGTH_MAX) break
  }
  return typed.split("\n")[0] ?? ""
}

/** The longest line that somebody types. */
const TYPED_LENGTH_MAX = 4096

/** The text of the standard input to its end. */
async function readStdin({ openSource }: System["streams"], bytesMax: number): Promise<TextFile> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (await openSource("-")).chunks) {
    length += chunk.length
    if (length > bytesMax) return { kind: "unreadable", why: `it has more than ${bytesMax} bytes` }
    chunks.push(chunk.slice())
  }
  const text = decodeUtf8(Buffer.concat(chunks))
  return text === null ? { kind: "unreadable", why: "it is not UTF-8" } : { kind: "read", text, isReadableByAll: false }
}

/** A deep check takes longer than a plain one. */
const SERVER_TIMEOUT_MS = 30_000

/** A client of a server. Throws a `CommandError` for a wrong address, and for a file without a secret key. */
async function openServer({ files }: System, { url, keyFile }: ServerTarget): Promise<Mailkind> {
  const bytes = keyFile === null ? null : await readKeyFile(files, keyFile)
  const key = bytes === null ? undefined : new TextDecoder().decode(bytes).trim()
  if (key !== undefined && !key.startsWith(KEY_KINDS.secret.prefix))
    throw new CommandError(
      `The file of --key-file has no secret key. Such a key begins with ${KEY_KINDS.secret.prefix}.`,
      2,
    )
  if (key !== undefined && /\s/.test(key))
    throw new CommandError("The file of --key-file has more than a key. Leave only the key in it.", 2)
  try {
    return createMailkind({ url, key, timeoutMs: SERVER_TIMEOUT_MS })
  } catch (error) {
    // The message is the client's, which names its own options.
    const message = error instanceof Error ? error.message.replace(/^mailkind: /, "") : ""
    throw new CommandError(message.replace("`url`", "--server") || "The address of --server is wrong.", 2)
  }
}

async function readKeyFile(files: System["files"], keyFile: string): Promise<Uint8Array> {
  try {
    const bytes = await files.read(keyFile)
    if (bytes !== null) return bytes
  } catch (error) {
    const says = streamErrorMessage(error)
    if (says === null) throw error
    throw new CommandError(`Cannot read the file of --key-file: ${says}.`, 2)
  }
  throw new CommandError("There is no file at the path of --key-file.", 2)
}

/** What the caches of a command take at most. */
const CACHE_BYTES = 32 * 1_048_576

/** A check without store and corrections. */
async function openCheck(context: AppContext, isOffline: boolean) {
  const { system, settings } = context
  const { lists } = await openListsForCommand(context)
  const matchLists: HostLearning["matchLists"] = (domain, registrable) => lists.pack.match(domain, registrable)
  const caches = createNetworkCaches(CACHE_BYTES, system.memory.limitBytes())
  const network = isOffline
    ? OFFLINE_NETWORK
    : createNetworkService(context, { learnedHosts: null, matchLists }, { caches })
  const { deepProbe } = createDeepChecksService(context, network, null)
  return {
    check: createCheck({
      ...{ ...system, ...LISTS_ALONE, activeLists: () => lists, networkProbe: network.networkProbe },
      ...{ deepProbe, onDefect: createOnDefect(context) },
    }),
    testDomain: testDomainOf(settings.MAILKIND_TEST_DOMAIN),
    requestId: createRequestIds(system.random),
  }
}

const noOwnLists = () => NO_OWN_LIST_MATCH

/**
 * Reads the operator's own lists, and gives what they say of a subject, as in the server. Without a database they are empty. If the
 * database cannot be opened, a line on the standard error says so, and the check goes on without them.
 */
async function readOperatorLists(context: AppContext): Promise<(subject: Subject) => OwnListMatch> {
  if (!hasStore(context)) return noOwnLists
  try {
    const store = await openStore(context, "command")
    const operator = await readEntryIndex(store, OPERATOR).finally(store.close)
    return subject => (subject.isTest ? NO_OWN_LIST_MATCH : lookupIn(operator, NO_ENTRIES, subject))
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    context.system.writeStderr(`The operator's own lists do not count, since they were not read. ${error.message}\n`)
    return noOwnLists
  }
}
