/** All public limits. The name of each has its unit. */
export const LIMITS = {
  addressBytesMax: 254,
  localPartBytesMax: 64,
  domainBytesMax: 253,
  labelBytesMax: 63,
  urlLengthMax: 2048,
  batchItemsMax: 100,
  batchItemLengthMax: 2048,
  batchBodyBytesMax: 262_144,
  bodyBytesMax: 65_536,
  /** All rules of an account with spaces and line feeds take 700 bytes. */
  rulesBodyBytesMax: 4_096,
  commentLengthMax: 1000,
  keysPerAccountMax: 5,
  keysCreatedPerDayMax: 20,
  keyNameLengthMax: 60,
  /** The owner gets a mail so many days before a key expires. */
  keyExpiryNoticeDays: 7,
  /** How far ahead a key may expire: ten years. */
  keyExpiryDaysMax: 3650,
  /** Networks that a secret key may be restricted to. */
  networksPerKeyMax: 20,
  /** Networks that a secret key was used from, as far as they are kept: for the mail about a new one. */
  seenNetworksPerKeyMax: 100,
  seenNetworkDays: 90,
  /** The first hour of a key tells which networks are usual: no mail is sent about them. */
  newNetworkGraceMinutes: 60,
  revocationSecondsMax: 60,
  termsNoticeDays: 30,
  newDomainDays: 30,
  /** A domain that is older is established: two years. */
  establishedDomainDays: 730,
  /** DNS questions of one check, those of them about names outside the organisational domain, and those about addresses of mail hosts. */
  dnsQuestionsPerCheckMax: 12,
  dnsForeignQuestionsPerCheckMax: 4,
  dnsHostQuestionsPerCheckMax: 8,
  dnsHostsTimeoutMs: 1000,
  /** DMARC questions of one check. The first is among the above; the others are about parent domains and not among them. */
  dmarcQuestionsPerCheckMax: 8,
  /** Lookups of domains that one caller has at the same time. A batch has at most 100 domains. */
  lookupsPerCallerMax: 150,
  /** Of the domains that one caller checks deeply, those whose registry and homepage are looked up at the same time. */
  deepLookupsPerCallerMax: 8,
  /** Lookups of tenants that one caller has at the same time: half of those of all callers. */
  tenantLookupsPerCallerMax: 32,
  deepCheckUnits: 5,
  publishableReasonsMax: 3,
  keylessPerSecond: 5,
  /** Requests of one client address without a key that are read to find out whether they are about a test address. */
  keylessReadsPerSecond: 50,
  /** Bodies of requests without a key that one client address has begun and not sent yet. */
  keylessBodiesPerClientMax: 16,
  /** How long the body of a request without a key may take. */
  keylessBodySeconds: 5,
  /** A burst is so many times the requests a second of a tier or a publishable key. */
  burstFactor: 2,
  publishablePerSecond: 10,
  publishableClientPerSecond: 2,
  /** Of all publishable keys of an account together. */
  publishableUnitsPerDay: 1_000,
  /** How long the answer to a request with an `Idempotency-Key` is kept, and of how many keys of one account: the oldest go first. */
  idempotencyHours: 24,
  idempotencyKeysPerAccountMax: 10_000,
  idempotencyKeyLengthMax: 255,
  ownListEntriesMax: 10_000,
  ownListNoteLengthMax: 200,
  /**
   * Entries of one request of the API, the bytes of its body, and the entries of one page. The longest entries with the longest notes take
   * 1.5 MB as JSON in which every letter that is not ASCII is escaped, as Python writes it, unless they are emojis. 2 MiB are parsed in 10 ms.
   */
  ownListRequestEntriesMax: 1_000,
  ownListBodyBytesMax: 2_097_152,
  ownListPageEntriesMax: 1_000,
  /** Long requests of one account, which are those with a body of more than `ownListShortTextMax` bytes: a burst, then one a second. */
  ownListLongRequestsBurst: 100,
  ownListLongRequestsPerSecond: 1,
  /** Enough for all entries in the longest form, that of a stored address: 7 + 64 + 1 + 253 bytes and a line feed. */
  ownListFormBytesMax: 4_194_304,
  /** Imports of one account, which are changes of its lists by a text of more than `ownListShortTextMax` characters: a burst, then one in ten seconds. */
  ownListImportsBurst: 20,
  ownListImportsPerSecond: 0.1,
  ownListShortTextMax: 1_024,
  /** Changes of the lists and rules of one account that wait for each other in a process. */
  accountChangesWaitingMax: 1_000,
  /** Reports of one account on the dashboard. */
  feedbackFormPerSecond: 1,
  /** Reports that one account sends on a UTC day, by the API and on the dashboard together. */
  feedbackPerDay: 200,
  feedbackDuplicateDays: 30,
  /** How long reports are kept, and keys after they were revoked or have expired. */
  feedbackDays: 400,
  endedKeyDays: 400,
  usageDays: 30,
  /** For so many days usage is stored and displayed on the dashboard. */
  usageDaysKept: 90,
  /** The request log of an account holds its last requests, so many or of so many days, whichever is less. */
  requestLogRowsMax: 10_000,
  requestLogDays: 7,
  /** How long entries of the audit trail are kept, how many at most, and how many that one account has made itself. */
  auditDays: 400,
  auditEntriesMax: 200_000,
  auditEntriesPerActorMax: 5000,
  operatorNoteLengthMax: 2000,
  suspensionReasonLengthMax: 500,
  /** How long the suspension of a deleted account is kept for the next one with its email. */
  formerSuspensionDays: 365,
  sessionDays: 30,
  sessionsPerAccountMax: 20,
  /** Lifetime of the link and the code of a sign-in. */
  signInMinutes: 15,
  /** How long an invitation to an account is valid. */
  invitationDays: 7,
  /** Invitations that are valid at the same time. */
  invitationsMax: 1000,
  signInCodeDigits: 6,
  signInTriesMax: 5,
  /** After so many wrong codes for an address no code is accepted for it until 00:00 UTC; the link in the mail works. */
  wrongCodesPerAddressAndDay: 10,
  /** Sign-in mails to one email address, whatever its `+tag`: a burst, then one in so many seconds. */
  signInsPerAddressMax: 3,
  signInPerAddressSeconds: 300,
  /** The same from one client address: an IPv4 address or an IPv6 /64. */
  signInsPerClientMax: 10,
  signInPerClientSeconds: 60,
  /** The same from an IPv4 /24 or an IPv6 /56, and from an IPv6 /48. */
  signInsPerNetworkMax: 30,
  signInPerNetworkSeconds: 20,
  signInsPerSiteMax: 60,
  signInPerSiteSeconds: 10,
  /** The same in total. */
  signInsGlobalMax: 300,
  signInGlobalSeconds: 1,
  /** The part of the total that needs no pass. */
  signInsWithoutPassPercent: 50,
  /** Attempts with a code or a link from one client address, from an IPv4 /24 or an IPv6 /56, and from an IPv6 /48. */
  signInProofsPerClientMax: 30,
  signInProofPerClientSeconds: 10,
  signInProofsPerNetworkMax: 90,
  signInProofPerNetworkSeconds: 4,
  signInProofsPerSiteMax: 180,
  signInProofPerSiteSeconds: 2,
  /** Slow responses that a process logs a second. */
  slowLinesPerSecondMax: 10,
  /** The same of responses with a status from 500 on. */
  failureLinesPerSecondMax: 5,
  requestIdLengthMax: 64,
  /** How long a connection may be idle, and how long a body may take. Longer than any response takes. */
  connectionIdleSeconds: 20,
  /** How long the headers of a request may take, about. Bun has fixed it. */
  requestHeadSeconds: 12,
  /** The bytes of a request line and headers together, and the headers of a request. Bun has fixed both. */
  requestHeadBytesMax: 16_384,
  requestHeadersMax: 198,
  /** A body of `bodyBytesMax` holds about as many items, each with a key and a URL. */
  leakReportItemsMax: 500,
  /** From one client address. Verifying the signature of a report takes 60 µs. */
  leakReportsPerSecond: 50,
  /** In total: verifying their signatures takes at most a thirtieth of a core. */
  leakReportsGlobalPerSecond: 500,
  /** The free website checker. A client is an IPv4 address or an IPv6 /64. */
  freeChecksPerClientAndDay: 20,
  /** All clients of an IPv6 /48 together, without a pass: one customer of a provider may have 65 536 clients. */
  freeChecksPerSiteAndDay: 120,
  /** From this part of the day's budget on, every visitor needs a pass. */
  freeChecksWithoutPassPercent: 50,
  freeRequestsPerSecond: 1,
  freeRequestsBurst: 5,
  passChecks: 20,
  passMinutes: 60,
  challengeMinutes: 5,
  /**
   * A challenge is solved by trying counters from 1 up to a hidden one of at most `challengeCounterMax`, each with
   * `challengeRounds` rounds of PBKDF2. On average that is five million rounds: 0.7 s in Chromium on one core of a server.
   */
  challengeCounterMax: 2000,
  challengeRounds: 5000,
  /** A network (an IPv4 /24 or an IPv6 /64) is banned after so many strikes within so many minutes. */
  strikesMax: 30,
  strikeMinutes: 10,
  /** The first ban. The next one within `banMemoryHours` after its end is twice as long, and so on up to `banHoursMax`. */
  banHours: 1,
  banHoursMax: 24,
  banMemoryHours: 24,
} as const
