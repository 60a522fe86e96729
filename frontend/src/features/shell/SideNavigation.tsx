import { Tooltip, UnstyledButton } from '@mantine/core'
import { CollapseIcon, ExpandIcon } from '~/ui/icons'
import { Navigation, ON_HOVER_AND_FOCUS } from './Navigation'
import styles from './navigation.module.css'
import { strings } from './strings'
import { useNavigationCollapsed } from './useNavigationCollapsed'

/** The navigation at the left edge; it stays in view, and a button reduces it to icons. */
export function SideNavigation() {
  const [collapsed, toggle] = useNavigationCollapsed()
  const label = collapsed ? strings.expandNavigation : strings.collapseNavigation
  return (
    <div className={styles.side} data-collapsed={collapsed || undefined}>
      <div className={styles.rail}>
        <Navigation collapsed={collapsed} />
        <Tooltip label={label} position="right" disabled={!collapsed} events={ON_HOVER_AND_FOCUS}>
          <UnstyledButton className={styles.toggle} onClick={toggle}>
            {collapsed ? <ExpandIcon /> : <CollapseIcon />}
            <span className={styles.name}>{label}</span>
          </UnstyledButton>
        </Tooltip>
      </div>
    </div>
  )
}
