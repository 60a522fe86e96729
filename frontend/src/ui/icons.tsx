/** The few icons of the product, drawn on a 16-pixel grid with one stroke. */

import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
}

export const SunIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="3" />
    <path d="M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1" />
  </Icon>
)

export const MoonIcon = () => (
  <Icon>
    <path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z" />
  </Icon>
)

export const ScreenIcon = () => (
  <Icon>
    <rect x="1.5" y="2.5" width="13" height="9" rx="1" />
    <path d="M5.5 14h5" />
  </Icon>
)

export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.5 3.5 3.5L13 4.5" />
  </Icon>
)

export const CopyIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1" />
    <path d="M10.5 3.5v-1h-8v8h1" />
  </Icon>
)

export const SwapIcon = () => (
  <Icon>
    <path d="M2 5.5h11M10 2.5l3 3-3 3M14 11H5M7.5 8.5 5 11l2.5 2.5" />
  </Icon>
)

export const PlusIcon = () => (
  <Icon>
    <path d="M8 3v10M3 8h10" />
  </Icon>
)

export const MinusIcon = () => (
  <Icon>
    <path d="M3 8h10" />
  </Icon>
)

export const FitIcon = () => (
  <Icon>
    <path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" />
  </Icon>
)

export const UserIcon = () => (
  <Icon>
    <circle cx="8" cy="5.5" r="2.8" />
    <path d="M2.5 14c.6-3 2.8-4.2 5.5-4.2s4.9 1.2 5.5 4.2" />
  </Icon>
)
