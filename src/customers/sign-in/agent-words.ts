/** Browsers, the more specific name first: most of them also carry the names of others. */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Edge", /\bEdgA?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
]

const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Android", /\bAndroid\b/],
  ["iOS", /\b(?:iPhone|iPad|iPod)\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
]

/** How much of a `User-Agent` is looked at. */
const LENGTH_MAX = 512

/** Which browser a `User-Agent` (RFC 9110 §10.1.5) names, in words of ours alone: `Firefox on Linux`. */
export function agentWords(userAgent: string | null): string {
  const text = (userAgent ?? "").slice(0, LENGTH_MAX)
  const named = (table: typeof BROWSERS): string | null => table.find(([, pattern]) => pattern.test(text))?.[0] ?? null
  const browser = named(BROWSERS) ?? "another program"
  const system = named(SYSTEMS)
  return system === null ? browser : `${browser} on ${system}`
}
