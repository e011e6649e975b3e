/** The examples of the repository. */

import hotel from "../../../examples/hotel/hotel.gram";
import shop from "../../../examples/shop/shop.gram";
import stays from "../../../examples/stays/stays.gram";
import weather from "../../../examples/weather/weather.gram";
import workspace from "../../../examples/workspace-assistant.gram";

export interface Example {
  name: string;
  title: string;
  text: string;
  /** The version before it, if the example shows a change. */
  old?: string;
}

/** The released version of the hotel's tools: longer stays, and a room that has to be chosen. */
const released = hotel.replace("range: 1..14", "range: 1..30").replace(', examples: ["Vienna"]', "");

export const examples: Example[] = [
  { name: "hotel", title: "Hotel: a change that breaks calls", text: hotel, old: released },
  { name: "weather", title: "Weather", text: weather },
  { name: "stays", title: "Stays", text: stays },
  { name: "shop", title: "Shop: injected values", text: shop },
  { name: "workspace", title: "Workspace assistant: most features", text: workspace },
];
