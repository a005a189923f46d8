import { hashedPath } from "./hashed-path.ts"
import BASE64 from "./social-image.txt" with { type: "text" }

/** The picture that other sites show of a link to a public page: a PNG of 1200 × 630 pixels, drawn from `data/pictures/social-image.html`. */
export const SOCIAL_IMAGE: Uint8Array<ArrayBuffer> = new Uint8Array(Buffer.from(BASE64, "base64"))

/** The path of the picture. */
export const SOCIAL_IMAGE_PATH: string = hashedPath("social-image", "png", SOCIAL_IMAGE)
