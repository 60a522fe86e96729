import { contents, type HelpPage as Page } from 'virtual:help'
import { useRouter } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { TextLink } from '~/ui/links'
import styles from './help.module.css'
import { strings } from './strings'

/** A page of the documentation, with the list of all pages and of its sections. */
export function HelpPage({ name, page }: { name: string; page: Page }) {
  const router = useRouter()

  // Links inside the text are plain ones: those to other pages of the help must not load the console again.
  function onClick(event: MouseEvent) {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
    if (!link || !isPlain || link.origin !== location.origin) return
    event.preventDefault()
    void router.navigate({ href: link.pathname + link.hash })
  }

  return (
    <div className={styles.page}>
      <nav className={styles.contents} aria-label={strings.pages}>
        <ul>
          {contents.map((entry) => (
            <li key={entry.name}>
              <TextLink
                to="/help/$"
                params={{ _splat: entry.name }}
                aria-current={entry.name === name ? 'page' : undefined}
              >
                {entry.title}
              </TextLink>
              {entry.name === name && page.sections.length > 0 && (
                <ul>
                  {page.sections.map((section) => (
                    <li key={section.id}>
                      <a href={`#${section.id}`}>{section.title}</a>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          ))}
          <li>
            <TextLink to="/help/reference">{strings.reference}</TextLink>
          </li>
        </ul>
      </nav>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click */}
      <article
        className={styles.text}
        onClick={onClick}
        // biome-ignore lint/security/noDangerouslySetInnerHtml: the build made it of our own documentation
        dangerouslySetInnerHTML={{ __html: page.html }}
      />
    </div>
  )
}
