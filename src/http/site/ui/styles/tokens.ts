/** Colours, spaces, radii and fonts. `light-dark()` follows the system, or the colours that the visitor chose. */
export const TOKENS = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fff, #0e1015); --wash: light-dark(#fafbfc, #14171d); --line: light-dark(#e6e8ec, #262a33); --line-strong: light-dark(#868c98, #6b7280);
  --ink: light-dark(#14161a, #eceef2); --soft: light-dark(#5a616d, #9ea6b4);
  --accent: light-dark(#4f46e5, #a5b0ff); --on-accent: light-dark(#fff, #0e1015); --accent-wash: light-dark(#eef0ff, #1b1e35);
  --allow: light-dark(#146c3c, #7fd6a4); --allow-wash: light-dark(#e6f6ec, #12291c); --allow-fill: light-dark(#2f9e62, #3fae74);
  --review: light-dark(#7a4d00, #f0c26f); --review-wash: light-dark(#fdf3dc, #2d2410); --review-fill: light-dark(#e0a020, #d9a030);
  --block: light-dark(#a3211c, #f7a49e); --block-wash: light-dark(#fdeceb, #331918); --block-fill: light-dark(#d9453f, #e0605a);
  --c-business: light-dark(#3f6fdc, #6f97f0); --c-personal: light-dark(#8f9bb0, #7d889c); --c-relay: light-dark(#9460d0, #b48ae8);
  --c-education: light-dark(#179a90, #3fbcb2); --c-government: light-dark(#6b9a2e, #96c455); --c-invalid: light-dark(#b9bfca, #565e6c); --c-unknown: light-dark(#d9dde4, #3a404c);
  --s1: .25rem; --s2: .5rem; --s3: .75rem; --s4: 1rem; --s5: 1.5rem; --s6: 2rem; --s7: 3rem; --s8: 4.5rem;
  --r-s: 6px; --r-m: 10px; --r-l: 14px; --shadow: 0 1px 2px #0f172a0a, 0 8px 24px -12px #0f172a26;
  --sans: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light }
:root[data-theme="dark"] { color-scheme: dark }
.of-business { --tone: var(--c-business) } .of-personal { --tone: var(--c-personal) } .of-disposable, .of-lookalike { --tone: var(--block-fill) } .of-relay { --tone: var(--c-relay) }
.of-education { --tone: var(--c-education) } .of-government { --tone: var(--c-government) } .of-invalid { --tone: var(--c-invalid) } .of-unknown { --tone: var(--c-unknown) }
.of-allow { --tone: var(--allow-fill) } .of-review { --tone: var(--review-fill) } .of-block { --tone: var(--block-fill) }
.allow { color: var(--allow); background: var(--allow-wash) } .review { color: var(--review); background: var(--review-wash) } .block { color: var(--block); background: var(--block-wash) }
`
