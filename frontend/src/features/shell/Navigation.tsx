import { Menu, UnstyledButton } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useCurrentMesh } from './MeshPicker'
import styles from './shell.module.css'

const CURRENT = { 'aria-current': 'page' } as const
// A page is the current one whatever is chosen on it.
const ANY_SEARCH = { includeSearch: false }

const PAGES = [
  ['/incidents', 'Incidents'],
  ['/curves', 'Curves'],
  ['/applications', 'Applications'],
  ['/recommendations', 'Recommendations'],
  ['/what-if', 'What if'],
  ['/vms', 'VMs'],
] as const

/** Pages one goes to now and then. */
const MORE = [
  ['/zones', 'Zones'],
  ['/meshes', 'Meshes'],
  ['/simulations', 'Simulations'],
  ['/jobs', 'Jobs'],
  ['/alert-rules', 'Alert rules'],
  ['/receivers', 'Receivers'],
  ['/silences', 'Silences'],
] as const

/** The pages of the product; those of a mesh come first, for the mesh that is chosen. */
export function Navigation() {
  const mesh = useCurrentMesh()
  const { pathname } = useLocation()
  const inMore = MORE.some(([to]) => pathname === to || (to !== '/meshes' && pathname.startsWith(`${to}/`)))
  return (
    <nav className={styles.nav} aria-label="Main">
      {mesh && (
        <>
          <Link
            to="/meshes/$meshId"
            params={{ meshId: mesh.id }}
            activeOptions={{ ...ANY_SEARCH, exact: true }}
            activeProps={CURRENT}
          >
            Heatmap
          </Link>
          <Link
            to="/meshes/$meshId/explore"
            params={{ meshId: mesh.id }}
            activeOptions={ANY_SEARCH}
            activeProps={CURRENT}
          >
            Explore
          </Link>
        </>
      )}
      {PAGES.map(([to, name]) => (
        <Link key={to} to={to} activeOptions={ANY_SEARCH} activeProps={CURRENT}>
          {name}
        </Link>
      ))}
      <Menu position="bottom-start" width={160} transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <UnstyledButton className={styles.more} data-current={inMore || undefined}>
            More
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {MORE.map(([to, name]) => (
            <Menu.Item key={to} renderRoot={(root) => <Link {...root} to={to} />}>
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Link to="/onboarding" search={mesh ? { mesh: mesh.id } : {}} activeOptions={ANY_SEARCH} activeProps={CURRENT}>
        Add a VM
      </Link>
    </nav>
  )
}
