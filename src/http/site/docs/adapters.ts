import BETTER_AUTH from "./examples/adapters/better-auth.txt" with { type: "text" }
import ELYSIA from "./examples/adapters/elysia.txt" with { type: "text" }
import EXPRESS from "./examples/adapters/express.txt" with { type: "text" }
import FASTIFY from "./examples/adapters/fastify.txt" with { type: "text" }
import HONO from "./examples/adapters/hono.txt" with { type: "text" }
import MAILKIND from "./examples/adapters/mailkind.txt" with { type: "text" }
import NEXT from "./examples/adapters/next.txt" with { type: "text" }
import SUPABASE from "./examples/adapters/supabase.txt" with { type: "text" }

/** The adapters for libraries, as the page shows them and as the tests run them: the file's name and the text. One with a title needs no more words. */
export const ADAPTERS = {
  mailkind: { file: "mailkind.js", text: MAILKIND },
  "better-auth": { file: "auth.js", text: BETTER_AUTH },
  supabase: { file: "before-user-created.js", text: SUPABASE },
  hono: { title: "Hono", file: "hono-app.js", text: HONO },
  elysia: { title: "Elysia", file: "elysia-app.js", text: ELYSIA },
  express: { title: "Express", file: "express-app.js", text: EXPRESS },
  fastify: { title: "Fastify", file: "fastify-app.js", text: FASTIFY },
  next: { title: "Next", file: "route.js", text: NEXT },
} as const satisfies Record<string, { readonly title?: string; readonly file: string; readonly text: string }>
