import { Link, Outlet } from '@tanstack/react-router'
import { useConnection } from '~/api/connection'
import { formatAge } from '~/lib/time'
import { Mark } from '~/ui/Logo'
import { Notice } from '~/ui/State'
import { useNow } from '~/ui/useNow'
import { ClockSwitch } from './ClockSwitch'
import { LiveMark } from './LiveMark'
import { MeshPicker, useCurrentMesh } from './MeshPicker'
import styles from './shell.module.css'
import { ThemeSwitch } from './ThemeSwitch'
import { UserMenu } from './UserMenu'

/** What surrounds every page: where you are, in which mesh, whether it is live. */
export function Shell() {
  const mesh = useCurrentMesh()
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        Skip to content
      </a>
      <header className={styles.bar}>
        <Link to="/" className={styles.brand}>
          <Mark />
          Sinemora
        </Link>
        <MeshPicker />
        <nav className={styles.nav} aria-label="Main">
          {mesh && (
            <Link
              to="/meshes/$meshId"
              params={{ meshId: mesh.id }}
              activeOptions={{ exact: true, includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              Heatmap
            </Link>
          )}
          {mesh && (
            <Link
              to="/meshes/$meshId/explore"
              params={{ meshId: mesh.id }}
              activeOptions={{ includeSearch: false }}
              activeProps={{ 'aria-current': 'page' }}
            >
              Explore
            </Link>
          )}
          <Link to="/incidents" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
            Incidents
          </Link>
          <Link to="/curves" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
            Curves
          </Link>
          <Link to="/applications" activeProps={{ 'aria-current': 'page' }}>
            Applications
          </Link>
          <Link to="/recommendations" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
            Recommendations
          </Link>
          <Link to="/what-if" activeOptions={{ includeSearch: false }} activeProps={{ 'aria-current': 'page' }}>
            What if
          </Link>
          <Link to="/vms" activeProps={{ 'aria-current': 'page' }}>
            VMs
          </Link>
          <Link to="/zones" activeProps={{ 'aria-current': 'page' }}>
            Zones
          </Link>
          <Link to="/jobs" activeProps={{ 'aria-current': 'page' }}>
            Jobs
          </Link>
          <Link to="/meshes" activeOptions={{ exact: true }} activeProps={{ 'aria-current': 'page' }}>
            Meshes
          </Link>
          <Link
            to="/onboarding"
            search={mesh ? { mesh: mesh.id } : {}}
            activeOptions={{ includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            Add a VM
          </Link>
        </nav>
        <div className={styles.end}>
          <LiveMark />
          <ClockSwitch />
          <ThemeSwitch />
          <UserMenu />
        </div>
      </header>
      <AwayBanner />
      <main id="content" className={styles.content} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  )
}

/** Says that what is shown is the last that was received, and gets out of the way by itself. */
function AwayBanner() {
  const { away, since } = useConnection()
  const now = useNow(1_000)
  if (!away) return null
  return (
    <div className={styles.banner}>
      <Notice tone="warn" title="The backend is not answering.">
        Not reached for {formatAge(now - since)}: what you see is what was last received. Trying again by itself.
      </Notice>
    </div>
  )
}
