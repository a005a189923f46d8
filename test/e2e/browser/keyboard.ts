import type { Page } from "playwright-core"

/** A user who has a keyboard and nothing else. */
export type Keyboard = {
  /** Moves the focus on until it is on the control with this name, seeing at each stop where it is. */
  readonly tabTo: (name: RegExp) => Promise<void>
  /** The same, backwards. */
  readonly tabBackTo: (name: RegExp) => Promise<void>
  readonly press: (key: string) => Promise<void>
  readonly type: (text: string) => Promise<void>
  /** Presses a key on the focused control, and waits for the page that it leads to. */
  readonly pressAndLoad: (key: string) => Promise<void>
}

/** How many stops a page may have between the focus and a control. */
const STOPS_MAX = 120

export function keyboardOf(page: Page): Keyboard {
  const move = async (key: string, name: RegExp): Promise<void> => {
    const passed: string[] = []
    while (passed.length < STOPS_MAX) {
      await page.keyboard.press(key)
      const stop = await page.evaluate<Stop>(STOP)
      if (!stop.isSeen) throw new Error(`the focus cannot be seen on ${JSON.stringify(stop)} of ${page.url()}`)
      if (name.test(stop.name)) return
      passed.push(stop.name)
    }
    throw new Error(`${name} is not reached on ${page.url()}: ${passed.join(" → ")}`)
  }
  return {
    tabTo: name => move("Tab", name),
    tabBackTo: name => move("Shift+Tab", name),
    press: key => page.keyboard.press(key),
    type: text => page.keyboard.type(text),
    pressAndLoad: async key => {
      await Promise.all([page.waitForEvent("load"), page.keyboard.press(key)])
    },
  }
}

/** Where the focus is. */
type Stop = { readonly name: string; readonly isSeen: boolean }

/** The focused element: it has an outline, itself or its label, and a part of it is on the screen below the header. */
const STOP = `(() => {
  const element = document.activeElement
  if (element === null || element === document.body) return { name: "", isSeen: true }
  const label = element.labels?.[0]
  const name = label?.textContent ?? element.getAttribute("aria-label") ?? element.textContent ?? ""
  const isOutlined = [element, label].some(one => {
    const style = one && getComputedStyle(one)
    return style && style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2
  })
  const isHidden = one => one.getBoundingClientRect().width < 2
  const { top, bottom, left, right } = (isHidden(element) && label ? label : element).getBoundingClientRect()
  const header = element.closest(".top, .skip") === null ? document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0 : 0
  const isOnScreen = Math.min(bottom, innerHeight) - Math.max(top, header) > 4 && right > 0 && left < innerWidth
  return { name: name.replace(/\\s+/g, " ").trim(), isSeen: isOutlined && isOnScreen }
})()`
