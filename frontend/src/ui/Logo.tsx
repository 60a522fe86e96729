/** Two arrows of different length, one per direction: delay has a direction. */
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" strokeWidth="3.4" aria-hidden="true">
      <path d="M3 11.5H27M20.5 5l6.5 6.5L20.5 18" stroke="var(--outbound)" />
      <path d="M27 23.5H12M17.5 18L12 23.5l5.5 5.5" stroke="var(--inbound)" />
    </svg>
  )
}
