declare module "*.gram" {
  const text: string;
  export default text;
}
