/** The icons of the product: 16 pixels, one stroke width. */

import {
  IconArrowsExchange,
  IconCheck,
  IconCopy,
  IconDeviceDesktop,
  IconMaximize,
  IconMinus,
  IconMoon,
  IconPlus,
  IconSun,
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
export const SwapIcon = icon(IconArrowsExchange)
export const PlusIcon = icon(IconPlus)
export const MinusIcon = icon(IconMinus)
export const FitIcon = icon(IconMaximize)
export const UserIcon = icon(IconUser)
