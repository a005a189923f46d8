/** The states of a job, which checks a whole list in the background. */
export const JOB_STATES = {
  receiving: { description: "The list is being uploaded.", isListed: true, hasResults: false },
  queued: { description: "The list is uploaded and waiting. Lists of one account are checked one after the other.", isListed: true, hasResults: false },
  running: { description: "The rows are being checked.", isListed: true, hasResults: false },
  stopped: { description: "The check is paused and continues automatically. `reason` says why. The results so far can be downloaded.", isListed: true, hasResults: true },
  done: { description: "All rows are checked.", isListed: true, hasResults: true },
  failed: { description: "The check stopped early, and `reason` says why. The results so far can be downloaded.", isListed: true, hasResults: true },
  deleted: { description: "It can no longer be read. The API answers as if it never existed.", isListed: false, hasResults: false },
} as const satisfies Record<string, { readonly description: string; readonly isListed: boolean; readonly hasResults: boolean }>
export type JobState = keyof typeof JOB_STATES

/** All states, in the order of a job's life. */
export const JOB_STATE_NAMES = Object.keys(JOB_STATES) as readonly JobState[]

/** The states that the API tells of. */
export const LISTED_JOB_STATES = JOB_STATE_NAMES.filter(state => JOB_STATES[state].isListed)

type JobTransition = { readonly description: string; readonly from: readonly JobState[]; readonly to: JobState }

/** What moves a job from one state to the next. Nothing else does. */
export const JOB_TRANSITIONS = {
  receive: { description: "The whole list has arrived.", from: ["receiving"], to: "queued" },
  claim: { description: "A process begins or continues to check its rows.", from: ["queued"], to: "running" },
  release: { description: "The process that checked its rows stops, or has ended.", from: ["running"], to: "queued" },
  stop: { description: "Today's units or the account's storage are used up, or the account is suspended.", from: ["running"], to: "stopped" },
  resume: { description: "There are units again: after 00:00 UTC, or at once when the tier rises. Or there is space again, or the account is no longer suspended.", from: ["stopped"], to: "queued" },
  finish: { description: "The last row has its result.", from: ["running"], to: "done" },
  fail: { description: "The list cannot be checked to its end.", from: ["running"], to: "failed" },
  delete: { description: "Its owner deletes it, it has expired, or its upload was cut short.", from: ["receiving", "queued", "running", "stopped", "done", "failed"], to: "deleted" },
} as const satisfies Record<string, JobTransition>
export type JobTransitionName = keyof typeof JOB_TRANSITIONS

/** Why a job is `stopped` or `failed`. */
export const JOB_REASONS = {
  units_used_up: { state: "stopped", description: "Today's units are used up. The check continues after 00:00 UTC, or as soon as your tier is raised." },
  space_used_up: { state: "stopped", description: "Your lists and results take up all the space of your account. The check continues when you delete a list, or one expires." },
  account_suspended: { state: "stopped", description: "The account is suspended. The check continues when it is resumed." },
  key_revoked: { state: "failed", description: "The key that uploaded the list was revoked or has expired." },
  files_lost: { state: "failed", description: "The files of the job are damaged or missing." },
  no_progress: { state: "failed", description: "The check broke off twice at the same place. The first row without a result is the likely cause: remove it and upload the list again." },
} as const satisfies Record<string, { readonly state: JobState; readonly description: string }>
export type JobReason = keyof typeof JOB_REASONS

export const JOB_REASON_NAMES = Object.keys(JOB_REASONS) as readonly JobReason[]

/** The formats of an uploaded list, each with the format and the media type of its results. */
export const JOB_FORMATS = {
  text: { description: "One input per line.", results: "csv", mediaType: "text/csv; charset=utf-8", extension: "csv" },
  csv: { description: "A table. Its delimiter, header and column are found. The results are its columns and those of the verdict.", results: "csv", mediaType: "text/csv; charset=utf-8", extension: "csv" },
  ndjson: { description: "One JSON string or object per line. The results are its members and those of a check.", results: "ndjson", mediaType: "application/x-ndjson", extension: "ndjson" },
} as const satisfies Record<string, { readonly description: string; readonly results: "csv" | "ndjson"; readonly mediaType: string; readonly extension: string }>
export type JobFormat = keyof typeof JOB_FORMATS

export const JOB_FORMAT_NAMES = Object.keys(JOB_FORMATS) as readonly JobFormat[]

/** The limits of jobs. The size of a list and the hours that it is kept are settings. */
export const JOB_LIMITS = {
  /** Jobs of one account that are not deleted, and uploads of it at the same time. */
  jobsPerAccountMax: 20,
  uploadsPerAccountMax: 2,
  /** An account that has stored so many bytes, of lists and results, uploads no more, and its jobs stop. */
  bytesPerAccountMax: 1_073_741_824,
  /** How long an upload may take, and how long nothing of it may arrive. */
  uploadSecondsMax: 3600,
  uploadIdleSeconds: 20,
  /** A longer row is `invalid`. */
  rowBytesMax: 65_536,
  columnsMax: 1000,
  /** Rows times columns of a list: cells of two bytes, in a list of the default size. */
  cellsMax: 50_000_000,
  /** A list in a zip archive or a spreadsheet is held whole while it is read: so many bytes of it at most. */
  archiveBytesMax: 33_554_432,
  nameLengthMax: 100,
  columnNameLengthMax: 200,
  /** The names of all result columns with commas have less. */
  columnsTextLengthMax: 500,
  /** Lines above a header that a caller may name: it stands in the part of a list that decides how it is read. */
  skippedLinesMax: 200,
  /** Of so many different inputs of a list, later duplicates are told: some 50 MB, and at most a part of the memory that the process may use. */
  distinctInputsMax: 2_500_000,
  /** Rows are read and written in blocks of about so many, or of so many bytes: a live request waits for one of them. */
  blockRows: 250,
  blockBytes: 65_536,
  /** Lists that one process checks at the same time, and lookups of one list that are under way at the same time. */
  runningPerProcessMax: 2,
  lookupsPerJobMax: 128,
  /** Claims of one list that may end with their process before the list gets further. */
  stalledClaimsMax: 2,
  /** Units that a dry run costs. */
  dryRunUnits: 1,
} as const
