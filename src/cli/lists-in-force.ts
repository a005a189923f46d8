import type { Command } from "commander"
import type { ListsAct, ListsActResult, ListsInForce, WaitingLists } from "../check/refresh/lists-in-force.ts"
import { BUILT_IN } from "../check/refresh/refresh-state.ts"
import { CommandError, JSON_FLAG, type Output, printJson, printTable } from "./output.ts"

/** What the commands need that say which lists are used: on this host, or on all nodes that share a database. */
export type ListsInForceDeps = {
  readonly readInForce: () => Promise<ListsInForce>
  readonly changeInForce: (act: ListsAct) => Promise<ListsActResult | "busy">
}

/** Says which version of the lists is in use. */
export const inUseText = (version: string): string =>
  version === BUILT_IN ? "The built-in lists are in use." : `The lists ${version} are in use.`

/** Says that this node waits for lists, and until when. */
export const waitingText = ({ version, untilMs }: WaitingLists): string =>
  `${version} waits here until ${new Date(untilMs).toISOString()} (MAILKIND_LISTS_DELAY_HOURS).`

/** It as JSON. */
export const waitingJson = (waiting: WaitingLists | null) =>
  waiting && { version: waiting.version, until: new Date(waiting.untilMs).toISOString() }

/** The error while another process changes what is in force. */
export const LISTS_BUSY = "Another process refreshes or changes the lists. Try again when it is done."

/** Registers `lists pin`, `unpin`, `release` and `rollback` with the group. */
export function registerInForceCommands(group: Command, output: Output, deps: ListsInForceDeps): void {
  group
    .command("pin")
    .description(
      "Keep all nodes at one version of the lists, until `lists unpin`. Without a version, show which there are.",
    )
    .argument("[version]", `a version, or ${BUILT_IN} for the lists of the program`)
    .option(...JSON_FLAG, false)
    .action(async (version, { json: asJson }) => {
      if (version === undefined) return showInForce(output, await deps.readInForce(), asJson)
      await act(output, deps, { kind: "pin", version }, asJson)
    })
  const acts = [
    ["unpin", "unpin", "Use the newest lists again, on all nodes."],
    ["release", "release", "Have the nodes use the newest lists that wait for MAILKIND_LISTS_DELAY_HOURS."],
    ["rollback", "roll_back", "Pin the previous lists, until `lists unpin`."],
  ] as const
  for (const [name, kind, description] of acts)
    group
      .command(name)
      .description(description)
      .option(...JSON_FLAG, false)
      .action(({ json: asJson }) => act(output, deps, { kind }, asJson))
}

async function act(
  output: Output,
  { changeInForce }: ListsInForceDeps,
  what: ListsAct,
  asJson: boolean,
): Promise<void> {
  const result = await changeInForce(what)
  if (result === "busy") throw new CommandError(LISTS_BUSY)
  const { now } = result
  if (result.kind === "none") throw new CommandError(refusal(what, now), what.kind === "pin" ? 2 : 1)
  const { pinnedBefore } = result
  if (asJson) return printJson(output, { ...inForceJson(now), pinned_before: pinnedBefore })
  output.line(inUseText(inUseHere(now)))
  if (now.waiting !== null) output.line(waitingText(now.waiting))
  if (now.pinned !== null) output.line("They are pinned, until `lists unpin`.")
  if (pinnedBefore !== null && pinnedBefore !== now.pinned) output.line(`${pinnedBefore} was pinned before.`)
}

function refusal({ kind }: ListsAct, now: ListsInForce): string {
  if (kind === "pin") return `There are no such lists. There are: ${versionsOf(now).join(", ")}.`
  return kind === "roll_back" ? `${inUseText(BUILT_IN)} There are no older ones.` : "No lists were built yet."
}

const versionsOf = ({ packs }: ListsInForce): readonly string[] => [...packs.map(({ version }) => version), BUILT_IN]

function showInForce(output: Output, now: ListsInForce, asJson: boolean): void {
  if (asJson) {
    printJson(output, inForceJson(now))
    return
  }
  output.line(now.pinned === null ? "No version is pinned." : `${now.pinned} is pinned, until \`lists unpin\`.`)
  const rows = now.packs.map(({ version, made_at_ms: madeAtMs }) => [
    version,
    new Date(madeAtMs).toISOString(),
    use(now, version),
  ])
  printTable(output, [["version", "built", "use"], ...rows, [`${BUILT_IN} (${now.builtIn})`, "", use(now, BUILT_IN)]])
}

/** What this node uses, which is not what is in force while it waits. */
const inUseHere = ({ inUse, waiting }: ListsInForce): string => waiting?.inUse ?? inUse

function use(now: ListsInForce, version: string): string {
  const { newest, isReleased, waiting } = now
  const uses = [
    ...(version === inUseHere(now) ? ["in use"] : []),
    ...(version === newest ? ["newest"] : []),
    ...(version === newest && isReleased ? ["released"] : []),
    ...(version === waiting?.version ? [`waits here until ${new Date(waiting.untilMs).toISOString()}`] : []),
  ]
  return uses.join(", ")
}

const inForceJson = (now: ListsInForce) => ({
  version: inUseHere(now),
  pinned: now.pinned,
  newest: now.newest,
  is_released: now.isReleased,
  waiting: waitingJson(now.waiting),
  built_in: now.builtIn,
  packs: now.packs.map(({ version, made_at_ms: madeAtMs }) => ({
    version,
    built_at: new Date(madeAtMs).toISOString(),
  })),
})
