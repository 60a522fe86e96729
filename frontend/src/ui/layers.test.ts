import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const ORDER = ['base', 'mantine', 'focus', 'components', 'motion']
const SHEETS = globSync('src/**/*.css').sort()

/** Return the prelude of each block or statement at the top level of a style sheet: "@layer base", "a", "@media print". */
function topLevel(css: string): string[] {
  const rules: string[] = []
  let depth = 0
  let start = ''
  for (const character of css.replace(/\/\*[\s\S]*?\*\//g, '')) {
    if (character === '{') {
      if (depth === 0) rules.push(start.trim())
      depth += 1
    } else if (character === '}') {
      depth -= 1
      start = ''
    } else if (character === ';' && depth === 0) {
      rules.push(start.trim())
      start = ''
    } else if (depth === 0) start += character
  }
  return rules
}

test.each(SHEETS)('every rule of %s is in a layer', (sheet) => {
  const css = readFileSync(sheet, 'utf8')
  for (const head of topLevel(css)) expect(head).toMatch(/^@layer [a-z, ]+$/)
})

test('the layers are declared once, in their order', () => {
  expect(topLevel(readFileSync('src/ui/layers.css', 'utf8'))).toEqual([`@layer ${ORDER.join(', ')}`])
})

test('the page itself declares the layers in that order, before any style sheet loads', () => {
  const page = readFileSync('index.html', 'utf8')
  const styles = /<style>(.*)<\/style>/.exec(page)
  expect(styles?.[1]).toBe(`@layer ${ORDER.join(', ')};`)
  expect(page.indexOf('<style>')).toBeLessThan(page.indexOf('<script type="module"'))
})

test('the layers are declared before any style sheet with rules', () => {
  const imports = [...readFileSync('src/main.tsx', 'utf8').matchAll(/^import '(.*\.css)'/gm)].map(([, path]) => path)
  expect(imports[0]).toBe('~/ui/layers.css')
})
