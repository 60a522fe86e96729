import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { AddIcon, CollapseIcon, ExpandIcon, FitIcon, KeyboardIcon, MoonIcon, SunIcon } from '~/ui/icons'
import { useKiosk, useSetKiosk } from '~/ui/kiosk'
import { strings } from '../strings'
import { useKioskPage } from '../useKioskPage'
import { useNavigationCollapsed } from '../useNavigationCollapsed'
import type { Entry } from './entries'

/** Return what can be done from any page; a new rule or annotation is for the mesh of the page. */
export function useActions(meshId: string | undefined, onShortcuts: () => void): Entry[] {
  const isDark = useComputedColorScheme() === 'dark'
  const { setColorScheme } = useMantineColorScheme()
  const [collapsed, toggleNavigation] = useNavigationCollapsed()
  const isKiosk = useKiosk()
  const isForWalls = useKioskPage()
  const setKiosk = useSetKiosk()
  return [
    {
      id: 'new-alert-rule',
      name: strings.newAlertRule,
      Icon: AddIcon,
      act: { to: '/alert-rules/new', search: meshId ? { mesh: meshId } : {} },
    },
    {
      id: 'add-annotation',
      name: strings.addAnnotation,
      Icon: AddIcon,
      act: { to: '/annotations', search: { add: true, ...(meshId ? { mesh: meshId } : {}) } },
    },
    {
      id: 'add-vm',
      name: strings.addVm,
      Icon: AddIcon,
      act: { to: '/onboarding', search: meshId ? { mesh: meshId } : {} },
    },
    { id: 'add-application', name: strings.addApplication, Icon: AddIcon, act: { to: '/applications/new' } },
    {
      id: 'switch-theme',
      name: isDark ? strings.switchToLight : strings.switchToDark,
      Icon: isDark ? SunIcon : MoonIcon,
      act: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      id: 'collapse-navigation',
      name: collapsed ? strings.expandNavigation : strings.collapseNavigation,
      Icon: collapsed ? ExpandIcon : CollapseIcon,
      act: toggleNavigation,
    },
    ...(isKiosk || isForWalls
      ? [
          {
            id: 'kiosk',
            name: isKiosk ? strings.leaveKiosk : strings.kiosk,
            Icon: FitIcon,
            act: () => setKiosk(!isKiosk),
          },
        ]
      : []),
    { id: 'shortcuts', name: strings.keyboardShortcuts, Icon: KeyboardIcon, act: onShortcuts },
  ]
}
