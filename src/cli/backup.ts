import type { Command } from "commander"
import type { Copied } from "../customers/store/copy.ts"
import type { Restored } from "../customers/store/restore.ts"
import { CommandFailure, json, type Output, shown } from "./output.ts"

/** What backs the database up, and restores it. Both reject with a `StoreFault`. */
export type BackupTools = {
  /** Writes a backup; null: the file is there, and shall not be replaced. */
  readonly backup: (file: string, isNew: boolean) => Promise<Copied | null>
  readonly restore: (file: string) => Promise<Restored>
}

/** Registers `backup` and `restore`. */
export function backupCommands(root: Command, output: Output, tools: BackupTools): void {
  root
    .command("backup")
    .description("Write a copy of the database to a file, also while a server runs.")
    .argument("<file>", "where to; its directory is there already")
    .option("--force", "replace the file when it is there", false)
    .option("--json", "answer in JSON", false)
    .action(async (file: string, { force, json: asJson }: { force: boolean; json: boolean }) => {
      const copied = await tools.backup(file, !force)
      if (copied === null) throw new CommandFailure(`${shown(file)} is there already; --force replaces it.`)
      if (asJson) json(output, toldCopy(copied))
      else output.line(`${shown(copied.path)} holds ${contentsOf(copied)}. Every page of it has been read back.`)
    })
  root
    .command("restore")
    .description("Put a backup in place of the database, which is kept beside it. No server may run.")
    .argument("<file>", "a backup")
    .option("--json", "answer in JSON", false)
    .action(async (file: string, { json: asJson }: { json: boolean }) => {
      const restored = await tools.restore(file)
      if (asJson) json(output, toldRestore(restored))
      else tellRestore(output, restored)
    })
}

const toldCopy = ({ path, bytes, accountsCount, keysCount, head }: Copied) => ({
  ...{ path, bytes, accounts: accountsCount, keys: keysCount, migration: head },
})

const toldRestore = ({ keptAs, carried, ...copied }: Restored) => ({
  ...toldCopy(copied),
  kept_as: keptAs,
  carried_over: carried && {
    revoked_keys: carried.revokedCount,
    quota_days: carried.unitsCount,
    ended_mails: carried.mailsCount,
    lost_accounts: carried.lostAccountsCount,
    returned_accounts: carried.returnedAccountsCount,
  },
})

function tellRestore(output: Output, { keptAs, carried, ...copied }: Restored): void {
  output.line(`The database holds ${contentsOf(copied)}.`)
  output.line("Nobody is signed in any more.")
  if (keptAs !== null) output.line(`What was there before is kept as ${shown(keptAs)}.`)
  if (carried === null) {
    output.line("Nothing could be taken over of what happened since the backup:")
    output.line("  keys that were revoked since work again: revoke them, by `mailkind key revoke ID`;")
    output.line("  what was used of today's quotas since is not known: up to a whole one may be used again today;")
    output.line("  mails that were sent since may be sent again.")
    return
  }
  const { revokedCount, unitsCount, mailsCount, lostAccountsCount, returnedAccountsCount } = carried
  output.line(
    `Taken over of it: ${revokedCount} revocations of keys, ${unitsCount} days of quotas, ${mailsCount} ends of mails.`,
  )
  if (lostAccountsCount > 0)
    output.line(`Accounts that were made since the backup, and are gone: ${lostAccountsCount}.`)
  if (returnedAccountsCount > 0)
    output.line(
      `Accounts that were deleted since the backup, and are back: ${returnedAccountsCount}. Delete them again.`,
    )
}

const contentsOf = ({ accountsCount, keysCount, bytes }: Copied): string =>
  `${accountsCount} accounts and ${keysCount} keys in ${bytes.toLocaleString("en")} octets`
