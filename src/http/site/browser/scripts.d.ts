/** The scripts of every page, of the guide and for forms of other websites are imported as text, so that their paths are known without reading a file. */
declare module "*/browser/site.js" {
  const text: string
  export = text
}
declare module "*/browser/search.js" {
  const text: string
  export = text
}
declare module "*/browser/theme.js" {
  const text: string
  export = text
}
declare module "*/browser/form.js" {
  const text: string
  export = text
}
declare module "*/browser/form-demo.js" {
  const text: string
  export = text
}
