import { useLocalStorage } from '@mantine/hooks'

/** Return whether shortcuts of one character work (WCAG 2.1.4), and a function that sets it. This browser remembers it. */
export function useSingleKeys(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useLocalStorage({
    key: 'sinemora-single-key-shortcuts',
    defaultValue: true,
    getInitialValueInEffect: false,
  })
  return [on, setOn]
}
