import { Tooltip, VisuallyHidden } from '@mantine/core'
import { Link, useMatches } from '@tanstack/react-router'
import { useId } from 'react'
import { useHasRoute } from '~/api/labs'
import { useCurrentMesh } from './MeshPicker'
import styles from './navigation.module.css'
import { useOpenIncidents } from './openIncidents'
import { currentPlace, type Place, type PlaceGroup, placeGroups } from './places'
import { strings } from './strings'

/** A collapsed link shows its name to the keyboard too. */
export const ON_HOVER_AND_FOCUS = { hover: true, focus: true, touch: false }

/** The places of the product, in groups. Collapsed, each is an icon with its name as a tooltip. */
export function Navigation({ collapsed = false }: { collapsed?: boolean }) {
  const mesh = useCurrentMesh()
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' })
  const groups = placeGroups(mesh?.id, useHasRoute())
  const current = currentPlace(groups, route).place
  return (
    <nav className={styles.navigation} data-collapsed={collapsed || undefined} aria-label={strings.mainNavigation}>
      {groups.map((group) => (
        <Group key={group.name} group={group} current={current} collapsed={collapsed} />
      ))}
    </nav>
  )
}

function Group(props: { group: PlaceGroup; current: Place | undefined; collapsed: boolean }) {
  const { group, current, collapsed } = props
  const id = useId()
  return (
    <div className={styles.group}>
      <span id={id} className={styles.heading}>
        {group.name}
      </span>
      <ul aria-labelledby={id}>
        {group.places.map((place) => (
          <li key={place.name}>
            <PlaceLink place={place} isCurrent={place === current} collapsed={collapsed} />
          </li>
        ))}
      </ul>
    </div>
  )
}

function PlaceLink({ place, isCurrent, collapsed }: { place: Place; isCurrent: boolean; collapsed: boolean }) {
  const link = place.pages[0]?.link
  return (
    <Tooltip label={place.name} position="right" disabled={!collapsed} events={ON_HOVER_AND_FOCUS}>
      <Link
        {...link}
        activeOptions={{ exact: true, includeSearch: false }}
        aria-current={isCurrent ? 'page' : undefined}
      >
        <place.Icon />
        <span className={styles.name}>{place.name}</span>
        {link?.to === '/incidents' && <OpenIncidents />}
      </Link>
    </Tooltip>
  )
}

/** The number of open incidents; nothing while there is none. */
function OpenIncidents() {
  const open = useOpenIncidents()
  if (!open) return null
  return (
    <>
      {' '}
      <span className={styles.count}>
        {open} <VisuallyHidden component="span">{strings.openLower}</VisuallyHidden>
      </span>
    </>
  )
}

/** The pages of the open place, as tabs above the page; nothing where the place is one page. */
export function PageTabs() {
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' })
  // Whichever mesh: pages of one are no tabs.
  const { place, page } = currentPlace(placeGroups('any', useHasRoute()), route)
  if (!place || place.pages.length < 2) return null
  return (
    <nav className={styles.tabs} aria-label={strings.pagesOf(place.name)}>
      {place.pages.map(({ name, link }) => (
        <Link
          key={name}
          {...link}
          activeOptions={{ exact: true, includeSearch: false }}
          aria-current={name === page?.name ? 'page' : undefined}
        >
          {name}
        </Link>
      ))}
    </nav>
  )
}
