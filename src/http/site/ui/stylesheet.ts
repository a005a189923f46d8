import { ADMIN } from "./styles/admin.ts"
import { BASE } from "./styles/base.ts"
import { CHARTS } from "./styles/charts.ts"
import { CONTROLS } from "./styles/controls.ts"
import { DOCS, FOLDS } from "./styles/docs.ts"
import { HEADER } from "./styles/header.ts"
import { HOME } from "./styles/home.ts"
import { LISTS } from "./styles/lists.ts"
import { REFERENCE } from "./styles/reference.ts"
import { ROWS, TABLES } from "./styles/tables.ts"
import { TOKENS } from "./styles/tokens.ts"
import { VERDICT } from "./styles/verdict.ts"

/** The stylesheet of every page. Later parts refine earlier ones. */
export const STYLESHEET = TOKENS + BASE + CONTROLS + HEADER + TABLES + VERDICT + HOME

/** What the pages of an account and of the administration need besides. */
export const ACCOUNT_STYLESHEET = ROWS + CHARTS + LISTS + ADMIN + FOLDS

/** What the guide and the API reference need besides. */
export const DOCS_STYLESHEET = FOLDS + DOCS + REFERENCE
