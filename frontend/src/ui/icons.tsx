/** The icons of the product: 16 pixels, one stroke width. */

import {
  IconAdjustments,
  IconAlertTriangle,
  IconApps,
  IconArrowsExchange,
  IconBellOff,
  IconBuilding,
  IconBulb,
  IconChartLine,
  IconCheck,
  IconChevronLeft,
  IconChevronRight,
  IconCirclePlus,
  IconClock,
  IconCoin,
  IconCompass,
  IconCopy,
  IconDatabaseExport,
  IconDeviceDesktop,
  IconDownload,
  IconDroplet,
  IconFlag,
  IconFlask,
  IconGauge,
  IconGitBranch,
  IconGridDots,
  IconHelp,
  IconHistory,
  IconInfoCircle,
  IconKey,
  IconKeyboard,
  IconLayoutDashboard,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconListCheck,
  IconMapPin,
  IconMaximize,
  IconMinus,
  IconMoon,
  IconPackages,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconRefresh,
  IconRoute,
  IconScale,
  IconSearch,
  IconSend,
  IconServer,
  IconSortDescending,
  IconStar,
  IconSun,
  IconTopologyFull,
  IconTransfer,
  IconTrendingDown,
  IconTruckDelivery,
  IconUser,
  IconUsers,
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
export const ExploreIcon = icon(IconChartLine)
export const IncidentsIcon = icon(IconAlertTriangle)
export const AnnotationsIcon = icon(IconFlag)
export const ApplicationsIcon = icon(IconApps)
export const CurvesIcon = icon(IconTrendingDown)
export const RecommendationsIcon = icon(IconBulb)
export const WhatIfIcon = icon(IconGitBranch)
export const AdvisorsIcon = icon(IconCompass)
export const ComputeMixIcon = icon(IconCoin)
export const FairnessIcon = icon(IconScale)
export const ShapingIcon = icon(IconDroplet)
export const TailLabIcon = icon(IconSortDescending)
export const TransportIcon = icon(IconTransfer)
export const TransfersIcon = icon(IconTruckDelivery)
export const SimulationsIcon = icon(IconFlask)
export const RulesIcon = icon(IconAdjustments)
export const ReceiversIcon = icon(IconSend)
export const SilencesIcon = icon(IconBellOff)
export const VmsIcon = icon(IconServer)
export const MeshesIcon = icon(IconTopologyFull)
export const ZonesIcon = icon(IconMapPin)
export const AddIcon = icon(IconCirclePlus)
export const ArtifactsIcon = icon(IconPackages)
export const ExportIcon = icon(IconDatabaseExport)
export const UsageIcon = icon(IconGauge)
export const KeyIcon = icon(IconKey)
export const MembersIcon = icon(IconUsers)
export const TenantIcon = icon(IconBuilding)
export const JobsIcon = icon(IconListCheck)
export const AuditIcon = icon(IconHistory)
export const AboutIcon = icon(IconInfoCircle)
