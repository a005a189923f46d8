type Extract = {
  readonly says: string
  readonly licence: string
  readonly origin: string
  readonly version: string
}

/** Files of `data/` that hold others' work, by their path there. The section of the same name in data/NOTICE.md is its notice. */
export const EXTRACTS = {
  "confusables.txt": {
    says: "Characters that look alike.",
    licence: "Unicode-DFS-2016",
    origin: "https://www.unicode.org/Public/security/15.0.0/confusables.txt",
    version: "15.0.0",
  },
  "common-words.txt": {
    says: "Words of the language, which no suggestion changes.",
    licence: "LicenseRef-SCOWL",
    origin: "http://wordlist.aspell.net/",
    version: "2020.12.07",
  },
  "rdap/dns.json": {
    says: "Which registry knows which domains.",
    licence: "MIT",
    origin: "https://data.iana.org/rdap/dns.json",
    version: "2025-11-06",
  },
} as const satisfies Record<string, Extract>

/** The section of a text in Markdown under a heading of the second level; null: there is none. */
export function sectionOf(markdown: string, heading: string): string | null {
  const section = markdown.split(/^## /m).find(part => part.startsWith(`${heading}\n`))
  return section === undefined ? null : section.slice(heading.length).trim()
}

/** The headings of the second level. */
export const headingsOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) => heading)
