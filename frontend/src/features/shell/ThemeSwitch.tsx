import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core'
import { MoonIcon, ScreenIcon, SunIcon } from '~/ui/icons'
import { strings } from './strings'

const SCHEMES = [
  { value: 'light', label: strings.light, icon: <SunIcon /> },
  { value: 'dark', label: strings.dark, icon: <MoonIcon /> },
  { value: 'auto', label: strings.system, icon: <ScreenIcon /> },
] as const

export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const current = SCHEMES.find(({ value }) => value === colorScheme) ?? SCHEMES[2]
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          c="var(--ink-2)"
          size={28}
          aria-label={strings.themeName(current.label)}
        >
          {current.icon}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map(({ value, label, icon }) => (
          <Menu.Item key={value} leftSection={icon} onClick={() => setColorScheme(value)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
