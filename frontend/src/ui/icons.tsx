/** The icons of the product: 16 pixels, one stroke width. */

import {
  IconAlertTriangle,
  IconApps,
  IconArrowsExchange,
  IconBell,
  IconBulb,
  IconChartLine,
  IconCheck,
  IconChevronLeft,
  IconChevronRight,
  IconCirclePlus,
  IconClock,
  IconCopy,
  IconDeviceDesktop,
  IconDownload,
  IconFlask,
  IconGridDots,
  IconHelp,
  IconKeyboard,
  IconLayoutDashboard,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconMaximize,
  IconMinus,
  IconMoon,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconRefresh,
  IconRoute,
  IconSearch,
  IconServer,
  IconSettings,
  IconStar,
  IconSun,
  IconTopologyFull,
  IconTrendingDown,
  IconUser,
  type TablerIcon,
} from '@tabler/icons-react'

/** Give an icon the size and stroke of this product, and hide it from screen readers: its button has the label. */
function icon(Shape: TablerIcon) {
  return () => <Shape size={16} stroke={2} aria-hidden="true" />
}

export const SunIcon = icon(IconSun)
export const MoonIcon = icon(IconMoon)
export const ScreenIcon = icon(IconDeviceDesktop)
export const CheckIcon = icon(IconCheck)
export const CopyIcon = icon(IconCopy)
export const DownloadIcon = icon(IconDownload)
export const SwapIcon = icon(IconArrowsExchange)
export const PlusIcon = icon(IconPlus)
export const MinusIcon = icon(IconMinus)
export const FitIcon = icon(IconMaximize)
export const RefreshIcon = icon(IconRefresh)
export const UserIcon = icon(IconUser)
export const SearchIcon = icon(IconSearch)
export const CollapseIcon = icon(IconLayoutSidebarLeftCollapse)
export const ExpandIcon = icon(IconLayoutSidebarLeftExpand)
export const PathIcon = icon(IconRoute)
export const KeyboardIcon = icon(IconKeyboard)
export const StarIcon = icon(IconStar)
export const HelpIcon = icon(IconHelp)
export const ClockIcon = icon(IconClock)
export const EarlierIcon = icon(IconChevronLeft)
export const LaterIcon = icon(IconChevronRight)
export const PauseIcon = icon(IconPlayerPause)
export const FollowIcon = icon(IconPlayerPlay)

// The pages of the navigation.
export const OverviewIcon = icon(IconLayoutDashboard)
export const HeatmapIcon = icon(IconGridDots)
export const PathsIcon = icon(IconChartLine)
export const IncidentsIcon = icon(IconAlertTriangle)
export const ApplicationsIcon = icon(IconApps)
export const CurvesIcon = icon(IconTrendingDown)
export const RecommendationsIcon = icon(IconBulb)
export const LabIcon = icon(IconFlask)
export const AlertsIcon = icon(IconBell)
export const VmsIcon = icon(IconServer)
export const MeshesIcon = icon(IconTopologyFull)
export const AddIcon = icon(IconCirclePlus)
export const SettingsIcon = icon(IconSettings)
