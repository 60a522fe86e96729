import { useLocalStorage } from '@mantine/hooks'

/** Return whether the side navigation shows icons alone, and a function that changes it. This browser remembers it. */
export function useNavigationCollapsed(): [boolean, () => void] {
  const [state, setState] = useLocalStorage<'collapsed' | 'expanded'>({
    key: 'sinemora-navigation',
    defaultValue: 'expanded',
    getInitialValueInEffect: false,
  })
  return [state === 'collapsed', () => setState((now) => (now === 'collapsed' ? 'expanded' : 'collapsed'))]
}
