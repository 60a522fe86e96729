import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useHasRoute } from '~/api/labs'
import { ADVISORS } from '~/ui/advisors'
import { Page } from '~/ui/Page'
import styles from './advisors.module.css'
import { strings } from './strings'

/** A page of one advisor, with the way to the others. */
export function AdvisorPage({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  const hasRoute = useHasRoute()
  return (
    <Page title={title} lead={lead}>
      <nav className={styles.tabs} aria-label={strings.advisors}>
        {ADVISORS.filter(({ link }) => hasRoute(link.to)).map(({ name, link }) => (
          <Link key={name} {...link} activeOptions={{ includeSearch: false }}>
            {name}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  )
}
