import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useMatches } from '@tanstack/react-router'
import { type CSSProperties, useCallback, useEffect, useState } from 'react'
import { useHasRoute } from '~/api/labs'
import { timelinessQuery } from '~/api/timeliness'
import { useKiosk } from '~/ui/kiosk'
import { Mark } from '~/ui/Logo'
import { lazyDialog } from '~/ui/lazyDialog'
import { AwayBanner } from './AwayBanner'
import { ClockSwitch } from './ClockSwitch'
import { DeletionBanner } from './DeletionBanner'
import { DemonstrationStrip } from './DemonstrationStrip'
import { DocumentTitle } from './DocumentTitle'
import { HelpLink } from './HelpLink'
import { Freshness } from './kiosk/Freshness'
import { KioskButton } from './kiosk/KioskButton'
import { LeaveKiosk } from './kiosk/LeaveKiosk'
import { useWallZoom } from './kiosk/useWallZoom'
import { LateAlertsBanner } from './LateAlertsBanner'
import { LiveMark } from './LiveMark'
import { MeshPicker } from './MeshPicker'
import { PageTabs } from './Navigation'
import { NavigationDrawer } from './NavigationDrawer'
import { NotFound } from './NotFound'
import { typeAhead } from './palette/typedAhead'
import { SavedViews } from './SavedViews'
import { SearchButton } from './SearchButton'
import { SideNavigation } from './SideNavigation'
import styles from './shell.module.css'
import { type Overlay, useShortcuts } from './shortcuts/useShortcuts'
import { strings } from './strings'
import { ThemeSwitch } from './ThemeSwitch'
import { TimeControl } from './time/TimeControl'
import { UserMenu } from './UserMenu'

const loadPalette = async () => (await import('./palette/Palette')).Palette
const Palette = lazyDialog(loadPalette)
const ShortcutList = lazyDialog(async () => (await import('./shortcuts/ShortcutList')).ShortcutList)

/** The frame of every page: navigation at the left, mesh, search and live state above it; a wall screen has neither. */
export function Shell() {
  const [overlay, setOverlay] = useState<Overlay | null>(null)
  const close = () => setOverlay(null)
  const show = useCallback((next: Overlay) => {
    if (next === 'palette') typeAhead()
    setOverlay(next)
  }, [])
  useShortcuts(show)
  usePaletteAtHand()
  const isKiosk = useKiosk()
  const zoom = useWallZoom()
  const { data: alerts } = useQuery(timelinessQuery)
  return (
    <div
      className={styles.shell}
      data-kiosk={isKiosk || undefined}
      style={isKiosk ? ({ '--wall-zoom': zoom } as CSSProperties) : undefined}
    >
      <DocumentTitle />
      <a className={styles.skip} href="#content">
        {strings.skipToContent}
      </a>
      {!isKiosk && (
        <header className={styles.bar}>
          <NavigationDrawer />
          <Link to="/" className={styles.brand}>
            <Mark />
            <span className={styles.name}>{strings.sinemora}</span>
          </Link>
          <MeshPicker />
          <div className={styles.end}>
            <TimeControl />
            <LiveMark />
            <SearchButton onClick={() => show('palette')} />
            <div className={styles.wide}>
              <ClockSwitch />
            </div>
            <div className={styles.wide}>
              <SavedViews />
            </div>
            <div className={styles.wide}>
              <KioskButton />
            </div>
            <div className={styles.wide}>
              <HelpLink />
            </div>
            <ThemeSwitch />
            <UserMenu />
          </div>
        </header>
      )}
      <div className={styles.body}>
        {!isKiosk && <SideNavigation />}
        <div className={styles.column}>
          <AwayBanner />
          <LateAlertsBanner alerts={alerts} />
          {!isKiosk && <DeletionBanner />}
          {!isKiosk && <DemonstrationStrip />}
          {!isKiosk && <PageTabs />}
          <main id="content" className={styles.content} tabIndex={-1} style={isKiosk ? { zoom } : undefined}>
            <Content />
          </main>
          {isKiosk && <Freshness />}
        </div>
      </div>
      {isKiosk && <LeaveKiosk />}
      <Palette opened={overlay === 'palette'} onClose={close} onShortcuts={() => setOverlay('shortcuts')} />
      <ShortcutList opened={overlay === 'shortcuts'} onClose={close} />
    </div>
  )
}

/** The page of the address; not found where it belongs to a laboratory that the server lacks. */
function Content() {
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' })
  return useHasRoute()(route) ? <Outlet /> : <NotFound />
}

/** Load the palette when the person first does something: keys that follow Ctrl-K at once must find its field. */
function usePaletteAtHand() {
  useEffect(() => {
    const ended = new AbortController()
    const load = () => {
      ended.abort()
      // Without a connection it is loaded when it opens.
      loadPalette().catch(() => undefined)
    }
    for (const event of ['pointermove', 'pointerdown', 'keydown']) {
      window.addEventListener(event, load, { signal: ended.signal, passive: true })
    }
    return () => ended.abort()
  }, [])
}
