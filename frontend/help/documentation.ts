/** Documentation as the console shows it: Markdown becomes HTML, and the glossary a table, when the product is built. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import GithubSlugger from 'github-slugger'
import { Marked, type Tokens } from 'marked'
import type { Plugin } from 'vite'

/** A page of the documentation. */
export interface HelpPage {
  title: string
  html: string
  sections: { id: string; title: string }[]
}

/** A term of the glossary. */
export interface Term {
  meaning: string
  /** The standard that the term is taken from; empty where the field has none. */
  standard: string
}

/** Return a page; links to documents that are not in `pages` become plain text, and pictures are left out. */
export function pageOf(markdown: string, pages: readonly string[]): HelpPage {
  const slugger = new GithubSlugger()
  const page: HelpPage = { title: '', html: '', sections: [] }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const title = this.parser.parseInline(tokens, this.parser.textRenderer)
        const id = slugger.slug(title)
        if (depth === 1) page.title ||= title
        if (depth === 2) page.sections.push({ id, title })
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens)
        const address = addressOf(href, pages)
        return address === undefined ? text : `<a href="${address}">${text}</a>`
      },
      image: () => '',
      table({ header, rows }: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        const body = rows.map((row) => cells(row, 'td')).join('')
        // It scrolls inside itself on a narrow screen, so the keyboard must reach it.
        return `<div class="table" tabindex="0"><table><thead>${cells(header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
      },
    },
  })
  page.html = marked.parse(markdown, { async: false })
  return page
}

/** Return the address in the console of a link between documents; undefined if the console does not have its page. */
function addressOf(href: string, pages: readonly string[]): string | undefined {
  if (/^(https?:|#)/.test(href)) return href
  const [path = '', section] = href.split('#')
  const name = path.replace(/^(\.\.?\/)*/, '').replace(/\.md$/, '')
  if (!pages.includes(name)) return undefined
  return `/help/${name}${section ? `#${section}` : ''}`
}

/** Return the terms of the tables of a glossary by name, in lower case. */
export function termsOf(markdown: string): Record<string, Term> {
  const terms: Record<string, Term> = {}
  for (const line of markdown.split('\n')) {
    const [name, meaning, standard] = line
      .split('|')
      .slice(1, 4)
      .map((cell) => cell.trim().replaceAll('`', ''))
    if (!name || !meaning || name === 'term' || name.startsWith('---')) continue
    const [, plain = '', onScreen] = /^(.*?)(?: \((?:on screen: )?(.*)\))?$/.exec(name) ?? []
    for (const word of [...plain.split(', '), ...(onScreen?.split(', ') ?? [])])
      terms[word.toLowerCase()] = { meaning, standard: standard ?? '' }
  }
  return terms
}

const HELP = 'virtual:help'
const GLOSSARY = 'virtual:glossary'

/**
 * Make modules of documentation: `virtual:help` with `contents` (name and title of each page, in order) and `load`
 * (by name, on demand), and `virtual:glossary` with its terms. `names`: documents of `folder`, without ".md".
 */
export function documentation(folder: string, names: readonly string[]): Plugin {
  const file = (name: string) => join(folder, `${name}.md`)
  return {
    name: 'documentation',
    resolveId: (id) => (id === GLOSSARY || id === HELP || id.startsWith(`${HELP}/`) ? `\0${id}` : undefined),
    async load(resolved) {
      if (!resolved.startsWith('\0virtual:')) return undefined
      const id = resolved.slice(1)
      const read = async (name: string) => {
        this.addWatchFile(file(name))
        return readFile(file(name), 'utf8')
      }
      if (id === GLOSSARY) return `export default ${JSON.stringify(termsOf(await read('glossary')))}`
      if (id === HELP) {
        const pages = await Promise.all(names.map(async (name) => ({ name, ...pageOf(await read(name), names) })))
        const contents = pages.map(({ name, title }) => ({ name, title }))
        const load = names.map((name) => `${JSON.stringify(name)}: () => import('${HELP}/${name}')`)
        return `export const contents = ${JSON.stringify(contents)}\nexport const load = { ${load.join(', ')} }`
      }
      if (!id.startsWith(`${HELP}/`)) return undefined
      return `export default ${JSON.stringify(pageOf(await read(id.slice(HELP.length + 1)), names))}`
    },
  }
}
