/** Everything that can lie over the page; loaded after the page is there. */
import { ToastHost } from "@/ui/Toasts";
import { KeysSheet } from "./KeysSheet";
import { useOverlays } from "./overlays";
import { Palette } from "./Palette";
import { PlacesSheet } from "./PlacesSheet";
import { QuestionSheet } from "./QuestionSheet";
import { StopSheet } from "./StopSheet";
import { useNotifications } from "./useNotifications";

export function Overlays() {
  useNotifications();
  const { open, show } = useOverlays();
  const close = () => show("");
  return (
    <>
      <ToastHost />
      <Palette open={open === "palette"} onClose={close} />
      <KeysSheet open={open === "keys"} onClose={close} />
      {open === "stop" && <StopSheet onClose={close} />}
      <PlacesSheet open={open === "places"} onClose={close} />
      <QuestionSheet open={open === "question"} onClose={close} />
    </>
  );
}
