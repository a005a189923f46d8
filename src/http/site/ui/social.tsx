/** @jsxImportSource preact */
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { ROUTES, type RouteId } from "../../../contract/routes.ts"
import { SOCIAL_IMAGE_PATH } from "../social-image.ts"

/** The public base address of the server, for what needs a complete URL. Empty: the page is shown by nobody else. */
export const BaseUrl = createContext("")

/** What a page says of itself in place of its route. */
export type SocialAddress = { readonly path: string; readonly description: string }

type SocialTagsProps = {
  readonly route: RouteId | null
  readonly title: string
  readonly address?: SocialAddress | undefined
}

/** What other sites and messengers show of a link to a public page: title, description and picture (Open Graph). */
export function SocialTags({ route, title, address }: SocialTagsProps) {
  const baseUrl = useContext(BaseUrl)
  if (route === null || baseUrl === "" || ROUTES[route].access !== "anybody") return null
  const { path, description } = address ?? ROUTES[route]
  const properties = {
    "og:type": "website",
    "og:site_name": "mailkind",
    "og:title": title,
    "og:description": description,
    "og:url": `${baseUrl}${path}`,
    "og:image": `${baseUrl}${SOCIAL_IMAGE_PATH}`,
    "og:image:type": "image/png",
    "og:image:width": "1200",
    "og:image:height": "630",
    "og:image:alt": "The mark of mailkind, with the words: Know who’s behind every sign-up",
  }
  return (
    <>
      {Object.entries(properties).map(([property, content]) => (
        <meta key={property} property={property} content={content} />
      ))}
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}
