// What the page uses of three.js, and no more: the bundle is built into the binary and into every report.
export {
    BackSide, BoxGeometry, BufferAttribute, BufferGeometry, Color, DataTexture, DoubleSide, EdgesGeometry,
    Float16BufferAttribute, Float32BufferAttribute, Group, InstancedBufferAttribute, InstancedBufferGeometry,
    InstancedInterleavedBuffer, InterleavedBufferAttribute, LineBasicMaterial, LineSegments, Matrix4, Mesh,
    MeshBasicMaterial, MOUSE, PerspectiveCamera, PlaneGeometry, Quaternion, RGBAFormat, Scene, ShaderMaterial, Vector2,
    Vector3, Vector4, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
