import { useLocalStorage } from '@mantine/hooks'

/** Return whether the side navigation shows icons alone, and a function that changes it. This browser remembers it. */
export function useNavigationCollapsed(): [boolean, () => void] {
  const [collapsed, setCollapsed] = useLocalStorage({
    key: 'sinemora-navigation-collapsed',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  return [collapsed, () => setCollapsed(!collapsed)]
}
