/** Every public limit, with its unit in its name (interface, "Limits"; decisions §2, §7, §8). */
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
  commentLengthMax: 1000,
  keysPerAccountMax: 5,
  keyNameLengthMax: 60,
  revocationSecondsMax: 60,
  termsNoticeDays: 30,
  newDomainDays: 30,
  deepCheckUnits: 5,
  publishableReasonsMax: 3,
  keylessPerSecond: 5,
  /** A burst is so many times what a tier or a publishable key may do in a second. */
  burstFactor: 2,
  publishablePerSecond: 10,
  publishableClientPerSecond: 2,
  publishableUnitsPerDay: 1_000,
  ownListEntriesMax: 10_000,
  /** Room for so many entries, each as long as the kept form of an address: 7 + 64 + 1 + 253 octets and the end of its line. */
  ownListFormBytesMax: 4_194_304,
  /** Reports that the dashboard takes of one account. */
  feedbackFormPerSecond: 1,
  feedbackDuplicateDays: 30,
  usageDays: 30,
  sessionDays: 30,
  sessionsPerAccountMax: 20,
  /** How long the link and the code of a sign-in are good for. */
  signInMinutes: 15,
  signInCodeDigits: 6,
  signInTriesMax: 5,
  /** Sign-ins that one address is asked for: so many at once, then one in so many seconds. */
  signInsPerAddressMax: 3,
  signInPerAddressSeconds: 300,
  /** The same of one client address. */
  signInsPerClientMax: 10,
  signInPerClientSeconds: 60,
  /** The same of all together. */
  signInsGlobalMax: 300,
  signInGlobalSeconds: 1,
  /** Codes and links that one client address brings. */
  signInProofsPerClientMax: 30,
  signInProofPerClientSeconds: 10,
  requestIdLengthMax: 64,
  /** How long a connection may stand still; a body has to come whole within it too. Longer than any answer takes. */
  connectionIdleSeconds: 20,
  /** About how long a request's head may take, which Bun has fixed. */
  requestHeadSeconds: 12,
  /** A body of `bodyBytesMax` has room for about as many, each with a key and a URL. */
  leakReportItemsMax: 500,
  /** Of one client address. Each may cost the check of a signature: 60 µs. */
  leakReportsPerSecond: 50,
  /** Of all together: their signatures take a thirtieth of a core at most. */
  leakReportsGlobalPerSecond: 500,
  /** The free website checker. A client is an IPv4 address or an IPv6 /64. */
  freeChecksPerClientAndDay: 3,
  freeRequestsPerSecond: 1,
  freeRequestsBurst: 5,
  passChecks: 20,
  passMinutes: 60,
  challengeMinutes: 5,
  /**
   * A challenge is solved by trying counters from 1 up to a hidden one of at most so many, each at the cost of so many
   * rounds of PBKDF2. On average that is five million rounds, shared by the cores: 0.7 s in Chromium on one core of a server.
   */
  challengeCounterMax: 2000,
  challengeRounds: 5000,
  /** So many wrong things of one network, an IPv4 /24 or an IPv6 /64, within so many minutes are abuse. */
  strikesMax: 30,
  strikeMinutes: 10,
  /** The first ban; each that follows within `banMemoryHours` of the end of the one before is twice as long. */
  banHours: 1,
  banHoursMax: 24,
  banMemoryHours: 24,
} as const
