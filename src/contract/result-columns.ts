type ColumnSpec = {
  /** What a cell holds. It completes the sentence "The cell holds …". */
  readonly holds: string
  /** Whether results have it where none are named. */
  readonly isUsual: boolean
  /** The part of an answer that it shows beside the verdict; null: none. It is asked for then, and `reasons` tells of it too. */
  readonly needs: "disposableHosts" | "hosts" | "workspace" | "mail" | null
}

/** The columns that CSV results can have, in their order. */
export const RESULT_COLUMNS = {
  category: { holds: "the [category](/docs/reasons)", isUsual: true, needs: null },
  confidence: { holds: "how sure that is, from 0 to 1", isUsual: true, needs: null },
  recommendation: { holds: "`allow`, `review` or `block`", isUsual: true, needs: null },
  is_business: { holds: "whether the category is one of businesses", isUsual: true, needs: null },
  did_you_mean: { holds: "the domain that was likely meant", isUsual: true, needs: null },
  reasons: { holds: "the [reasons](/docs/reasons), with spaces between them", isUsual: true, needs: null },
  degraded: { holds: "whether DNS did not answer, so that the verdict comes from lists alone", isUsual: true, needs: null },
  is_free_provider: { holds: "whether the domain is a list's free mailbox provider", isUsual: false, needs: null },
  is_disposable: { holds: "whether a list or the mail hosts call the domain disposable", isUsual: false, needs: "disposableHosts" },
  is_relay: { holds: "whether it is an alias that forwards to a person", isUsual: false, needs: null },
  is_role_account: { holds: "whether the local part names a role", isUsual: false, needs: null },
  has_mx: { holds: "whether an MX record names a mail host; empty: not known", isUsual: false, needs: "hosts" },
  mail_provider: { holds: "the key of the provider of the first mail host", isUsual: false, needs: "hosts" },
  spf: { holds: "the SPF record", isUsual: false, needs: "mail" },
  dmarc_policy: { holds: "the DMARC policy", isUsual: false, needs: "mail" },
  suite_a: { holds: "whether records show suite_a", isUsual: false, needs: "workspace" },
  suite_b: { holds: "whether records or a tenant show suite_b", isUsual: false, needs: "workspace" },
  other_suite: { holds: "the key of another suite that runs the mail", isUsual: false, needs: "workspace" },
  input_cleaned: { holds: "whether the cell was cleaned", isUsual: true, needs: null },
  input_checked: { holds: "what was checked in its place", isUsual: true, needs: null },
  input_several: { holds: "the other addresses of the cell", isUsual: true, needs: null },
  input_skipped: { holds: "whether the row was skipped", isUsual: true, needs: null },
} as const satisfies Readonly<Record<string, ColumnSpec>>

export type ResultColumn = keyof typeof RESULT_COLUMNS

export const RESULT_COLUMN_NAMES = Object.keys(RESULT_COLUMNS) as readonly ResultColumn[] // the keys of a table are its type's

/** What a list of columns must be. */
export const RESULT_COLUMNS_RULE = `some of ${RESULT_COLUMN_NAMES.join(", ")}, each once, separated by commas`

/** The columns that a text names, in the order of the table; null: it names one that does not exist, or one twice. */
export function parseResultColumns(text: string): readonly ResultColumn[] | null {
  const named = text.split(",").map(name => name.trim())
  const known = RESULT_COLUMN_NAMES.filter(name => named.includes(name))
  return known.length === named.length ? known : null
}
