import { Menu, UnstyledButton, VisuallyHidden } from '@mantine/core'
import { Link, useLocation } from '@tanstack/react-router'
import { useCurrentMesh } from './MeshPicker'
import { useOpenIncidents } from './openIncidents'
import styles from './shell.module.css'
import { strings } from './strings'

const CURRENT = { 'aria-current': 'page' } as const
// A page is current whatever its search parameters are.
const ANY_SEARCH = { includeSearch: false }

const PAGES = [
  ['/curves', strings.curves],
  ['/applications', strings.applications],
  ['/recommendations', strings.recommendations],
  ['/what-if', strings.whatIf],
  ['/vms', strings.vms],
] as const

/** Pages used occasionally. */
const MORE = [
  ['/zones', strings.zones],
  ['/meshes', strings.meshes],
  ['/simulations', strings.simulations],
  ['/jobs', strings.jobs],
  ['/alert-rules', strings.alertRules],
  ['/receivers', strings.receivers],
  ['/silences', strings.silences],
] as const

/** The pages of the product: the overview, the chosen mesh, then the others. Stacked, all of them are in one column. */
export function Navigation({ stacked = false }: { stacked?: boolean }) {
  const mesh = useCurrentMesh()
  const { pathname } = useLocation()
  const open = useOpenIncidents()
  const inMore = MORE.some(([to]) => pathname === to || (to !== '/meshes' && pathname.startsWith(`${to}/`)))
  return (
    <nav className={stacked ? styles.stack : styles.nav} aria-label={strings.mainNavigation}>
      <Link to="/" activeOptions={{ ...ANY_SEARCH, exact: true }} activeProps={CURRENT}>
        {strings.overview}
      </Link>
      {mesh && (
        <>
          <Link
            to="/meshes/$meshId"
            params={{ meshId: mesh.id }}
            activeOptions={{ ...ANY_SEARCH, exact: true }}
            activeProps={CURRENT}
          >
            {strings.heatmap}
          </Link>
          <Link
            to="/meshes/$meshId/explore"
            params={{ meshId: mesh.id }}
            activeOptions={ANY_SEARCH}
            activeProps={CURRENT}
          >
            {strings.explore}
          </Link>
        </>
      )}
      <Link to="/incidents" activeOptions={ANY_SEARCH} activeProps={CURRENT}>
        {strings.incidents}{' '}
        {open && (
          <span className={styles.count}>
            {open} <VisuallyHidden component="span">{strings.openLower}</VisuallyHidden>
          </span>
        )}
      </Link>
      {(stacked ? [...PAGES, ...MORE] : PAGES).map(([to, name]) => (
        <Link key={to} to={to} activeOptions={ANY_SEARCH} activeProps={CURRENT}>
          {name}
        </Link>
      ))}
      {!stacked && (
        <Menu position="bottom-start" width={160} transitionProps={{ duration: 0 }}>
          <Menu.Target>
            <UnstyledButton className={styles.more} data-current={inMore || undefined}>
              {strings.more}
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
      )}
      <Link to="/onboarding" search={mesh ? { mesh: mesh.id } : {}} activeOptions={ANY_SEARCH} activeProps={CURRENT}>
        {strings.addVm}
      </Link>
    </nav>
  )
}
