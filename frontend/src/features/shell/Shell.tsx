import { Link, Outlet } from '@tanstack/react-router'
import { useConnection } from '~/api/connection'
import { formatAge } from '~/lib/time'
import { Mark } from '~/ui/Logo'
import { Notice } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import { ClockSwitch } from './ClockSwitch'
import { DemonstrationStrip } from './DemonstrationStrip'
import { DocumentTitle } from './DocumentTitle'
import { LiveMark } from './LiveMark'
import { MeshPicker } from './MeshPicker'
import { Navigation } from './Navigation'
import { NavigationDrawer } from './NavigationDrawer'
import styles from './shell.module.css'
import { strings } from './strings'
import { ThemeSwitch } from './ThemeSwitch'
import { UserMenu } from './UserMenu'

/** The frame of every page: navigation, mesh, live state. */
export function Shell() {
  return (
    <div className={styles.shell}>
      <DocumentTitle />
      <a className={styles.skip} href="#content">
        {strings.skipToContent}
      </a>
      <header className={styles.bar}>
        <NavigationDrawer />
        <Link to="/" className={styles.brand}>
          <Mark />
          <span className={styles.name}>{strings.sinemora}</span>
        </Link>
        <Navigation />
        <div className={styles.end}>
          <MeshPicker />
          <LiveMark />
          <div className={styles.clock}>
            <ClockSwitch />
          </div>
          <ThemeSwitch />
          <UserMenu />
        </div>
      </header>
      <AwayBanner />
      <DemonstrationStrip />
      <main id="content" className={styles.content} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  )
}

/** A banner while the backend does not respond; it disappears by itself. */
function AwayBanner() {
  const { away, since } = useConnection()
  const now = useNow(1_000)
  if (!away) return null
  return (
    <div className={styles.banner}>
      <Notice tone="warn" title={strings.backendAway}>
        {strings.backendAwayLead(formatAge(now - since))}
      </Notice>
    </div>
  )
}
